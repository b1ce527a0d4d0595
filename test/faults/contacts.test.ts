import { beforeEach, expect, it } from "vitest";

import { Contact, ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { allRows, Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { answer500, collision, dropAnswer, isBy, loseRequest } from "../support/faults.ts";
import { killing } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway, faults } = await gatewayOfFile();
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ baseUrl: gateway.url });
});

const isCreation = isBy("CreateContact", "dynamodb:TransactWriteItems");
const isChange = isBy("UpdateContact", "dynamodb:TransactWriteItems");
const isChunk = isBy("ImportContacts", "dynamodb:TransactWriteItems");

async function create(phoneNumber: string): Promise<ApiResponse> {
  return customer.call("/v1/contacts", { json: { phoneNumber } });
}

/** The numbers of all contacts. Their count must equal that of the list. */
async function stored(): Promise<string[]> {
  const { client } = customer;
  const rows = await allRows(async (next) => client.listContacts({ query: { limit: 100, ...next } }));
  expect(rows).toHaveLength((await client.listContacts()).meta.total);
  return rows.map(({ phoneNumber }) => phoneNumber).toSorted();
}

it.each([
  ["the response to its write is lost", dropAnswer, 1],
  ["the response to its write is an internal error", answer500, 1],
  ["its write is lost", loseRequest, 1],
  ["it collides with other transactions", collision, 3],
])("a contact is added once though %s", async (_name, fault, times) => {
  faults.next(isCreation, fault, times);
  expect((await create("15005551000")).status).toBe(201);
  expect(await stored()).toEqual(["15005551000"]);
});

it("a creation that keeps colliding returns UNAVAILABLE, not a conflict, and leaves nothing in the table", async () => {
  faults.next(isCreation, collision, 100);
  expect(errorOf(await create("15005551000"))).toEqual({ status: 503, code: "UNAVAILABLE" });
  faults.clear();
  expect(await stored()).toEqual([]);
  expect((await create("15005551000")).status).toBe(201);
});

it("a change succeeds after collisions with other transactions", async () => {
  const { id } = dataOf(await create("15005551000"), Contact);
  faults.next(isChange, collision, 2);
  const json = { firstName: "Ada", phoneNumber: "15005551001" };
  expect((await customer.call(`/v1/contacts/${id}`, { method: "PATCH", json })).status).toBe(200);
  expect(await stored()).toEqual(["15005551001"]);
});

it.each(["before", "after"] as const)(
  "an import whose function is killed %s it writes a chunk completes when it is sent again",
  async (when) => {
    const contacts = Array.from({ length: 200 }, (_, row) => ({ phoneNumber: String(15_005_551_000 + row) }));
    const importAll = async () => customer.call("/v1/contacts/import", { json: { contacts } });
    let chunks = 0;
    faults.next(
      (request) => isChunk(request) && (chunks += 1) === 3,
      killing(gateway, "ApiImportContacts", when),
    );
    expect((await importAll()).status).toBe(500);
    const left = await stored();
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(200);

    const again = dataOf(await importAll(), ImportedContacts);
    expect(again.totals).toEqual({ created: 200 - left.length, duplicates: left.length, invalid: 0 });
    expect(await stored()).toEqual(contacts.map(({ phoneNumber }) => phoneNumber));
  },
);
