import { expect, it, vi } from "vitest";

import { Export } from "../../shared/api/contract/exports.ts";
import { Customer, dataOf, errorOf, invalidFields } from "../support/api.ts";
import { importContacts } from "../support/contacts.ts";
import { patience } from "../support/patience.ts";

async function ready({ client }: Customer, id: string): Promise<Export> {
  return vi.waitFor(async () => {
    const shown = await client.getExport({ params: { id } });
    if (shown.status === "running") throw new Error(`the export is ${shown.status}`);
    return shown;
  }, patience);
}

it("exports each list as CSV, with its filter", async () => {
  const customer = await Customer.register({ balance: 5 });
  const { client } = customer;
  await importContacts(customer, 3, (index) => ({
    firstName: `Ada ${index}`,
    tags: index === 1 ? ["vip"] : [],
  }));
  const sent = await customer.send({ message: "Hello, Ada", reference: "1001", metadata: { a: "b" } });
  const exported = async (body: object): Promise<string> => {
    const response = await customer.call("/v1/exports", { json: body });
    expect(response.status).toBe(202);
    const { id } = dataOf(response, Export);
    const { parts } = await ready(customer, id);
    expect(parts).toBe(1);
    return (await client.getExportPart({ params: { id, part: "1" } })).csv;
  };
  expect(await exported({ contacts: { tag: "vip" } })).toMatch(
    /^phoneNumber,firstName,lastName,tags,optedOut,createdAt\r\n15006000001,Ada 1,,vip,,2\S+Z\r\n$/,
  );
  const messages = await exported({ messages: { to: sent.to, test: false } });
  expect(messages).toMatch(new RegExp(`\\r\\n${sent.id},15005550000,.*,USD,1001,"{""a"":""b""}"\\r\\n$`));
  expect(await exported({ messages: { search: "Grace" } })).toMatch(
    /^id,to,.*,currency,reference,metadata\r\n$/,
  );
  expect(await exported({ transactions: {} })).toMatch(new RegExp(`message,.*,${sent.id},.*\\r\\n.*top_up,`));
  const { id: campaignId } = await client.createCampaign({
    body: { name: "Spring", message: "Hello", audience: { all: true }, senderId: "ACME" },
  });
  expect(await exported({ campaignRecipients: { campaignId } })).toBe(
    "number,name,status,reason,messageId,reply\r\n",
  );
});

it("rejects unknown fields, several lists, and lists that do not exist", async () => {
  const customer = await Customer.register();
  const invalid = async (json: object): Promise<string[]> =>
    invalidFields(await customer.call("/v1/exports", { json }));
  expect(await invalid({})).toEqual([""]);
  expect(await invalid({ contacts: {}, messages: {} })).toEqual([""]);
  expect(await invalid({ contacts: { page: 1 } })).toEqual(["contacts.page"]);
  expect(await invalid({ messages: { statuses: "failed" } })).toEqual(["messages.statuses"]);
  expect(await invalid({ messages: { test: "true" } })).toEqual(["messages.test"]);
  expect(await invalid({ transactions: { from: "2030-02-01", to: "2030-01-01" } })).toEqual(["to"]);
  const json = { campaignRecipients: { campaignId: "cmp_01J00000000000000000000000" } };
  expect(errorOf(await customer.call("/v1/exports", { json }))).toEqual({ status: 404, code: "NOT_FOUND" });
});

it("a repeated request gets the same export, and its parts also come as plain text", async () => {
  const customer = await Customer.register();
  const { client } = customer;
  const headers = { "Idempotency-Key": "export-1" };
  const [first, again] = [
    await customer.call("/v1/exports", { json: { contacts: {} }, headers }),
    await customer.call("/v1/exports", { json: { contacts: {} }, headers }),
  ];
  const { id } = dataOf(first, Export);
  expect(dataOf(again, Export)).toEqual(dataOf(first, Export));
  await ready(customer, id);
  expect(await client.getExport({ params: { id } })).toMatchObject({
    list: "contacts",
    status: "ready",
    rows: 0,
  });
  const part = await customer.call(`/v1/exports/${id}/parts/1`, { headers: { Accept: "text/csv" } });
  expect(part.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(part.text).toBe("phoneNumber,firstName,lastName,tags,optedOut,createdAt\r\n");
  const other = await Customer.register();
  for (const path of [`/v1/exports/${id}`, `/v1/exports/${id}/parts/1`]) {
    expect((await other.call(path)).status).toBe(404);
  }
});
