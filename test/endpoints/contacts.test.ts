import { beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { Contact, ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { maxContacts, findContact, readContacts } from "../../shared/audience/contacts/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { itemsOf } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import {
  Customer,
  dataOf,
  errorOf,
  invalidFields,
  pageOf,
  statusesOf,
  type ApiResponse,
} from "../support/api.ts";
import { patience } from "../support/patience.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };
const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };

let lastNumber = 15_005_551_000;
function newNumber(): string {
  lastNumber += 1;
  return String(lastNumber);
}

async function create(customer: Customer, fields: Record<string, unknown> = {}): Promise<Contact> {
  const response = await customer.call("/v1/contacts", { json: { phoneNumber: newNumber(), ...fields } });
  expect(response.status).toBe(201);
  return dataOf(response, Contact);
}

async function change(customer: Customer, id: string, json: Record<string, unknown>): Promise<ApiResponse> {
  return customer.call(`/v1/contacts/${id}`, { method: "PATCH", json });
}

async function remove(customer: Customer, id: string): Promise<ApiResponse> {
  return customer.call(`/v1/contacts/${id}`, { method: "DELETE" });
}

async function read(customer: Customer, id: string): Promise<Contact> {
  return dataOf(await customer.call(`/v1/contacts/${id}`), Contact);
}

async function list(customer: Customer, query = ""): Promise<ReturnType<typeof pageOf<Contact>>> {
  return pageOf(await customer.call(`/v1/contacts?${query}`), Contact);
}

/** Makes the organization look as if it had this number of contacts more. */
async function pretendContacts(customer: Customer, contacts: number): Promise<void> {
  await updateItem(
    z.unknown(),
    updateOf(keys.organization(customer.organizationId), { add: { contactCount: contacts } }),
  );
}

let customer: Customer;
let stranger: Customer;
beforeAll(async () => {
  [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
});

describe("a contact", () => {
  it("has its given fields, and needs only a number", async () => {
    const fields = {
      phoneNumber: newNumber(),
      firstName: "Zoë",
      lastName: "Ngọc",
      tags: ["vip", "Müller - co", "spring_2026.a"],
      attributes: { city: "Hà Nội", Code_1: "" },
      optedOut: true,
    };
    const full = await create(customer, { ...fields, unknown: 1 });
    expect(full).toMatchObject(fields);
    expect(full.updatedAt).toBe(full.createdAt);
    expect(await read(customer, full.id)).toEqual(full);

    const plain = await create(customer);
    expect(plain).toMatchObject({ tags: [], attributes: {}, optedOut: false });
    expect(plain).not.toHaveProperty("firstName");
  });

  it.each([
    ["no number", { phoneNumber: undefined }, "phoneNumber"],
    ["a number with spaces", { phoneNumber: "+1 500 555 0000" }, "phoneNumber"],
    ["a firstName of 101 characters", { firstName: "x".repeat(101) }, "firstName"],
    ["a tag twice", { tags: ["vip", " vip "] }, "tags"],
    ["21 tags", { tags: Array.from({ length: 21 }, (_, tag) => `t${tag}`) }, "tags"],
    ["a tag of blanks", { tags: ["vip", "  "] }, "tags.1"],
    ["a tag of 51 characters", { tags: ["x".repeat(51)] }, "tags.0"],
    ["a tag with a comma", { tags: ["a,b"] }, "tags.0"],
    ["an attribute whose name begins with a digit", { attributes: { "1st": "x" } }, "attributes.1st"],
    ["an attribute that is a number", { attributes: { age: 7 } }, "attributes.age"],
    ["an attribute of 201 characters", { attributes: { note: "x".repeat(201) } }, "attributes.note"],
    [
      "21 attributes",
      { attributes: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, "x"])) },
      "attributes",
    ],
    ["optedOut as text", { optedOut: "yes" }, "optedOut"],
  ])("is rejected with %s", async (_name, fields, path) => {
    const created = await customer.call("/v1/contacts", { json: { phoneNumber: newNumber(), ...fields } });
    expect(errorOf(created)).toEqual(invalid);
    expect(invalidFields(created)).toEqual([path]);
  });

  it("is not found by another organization, which can neither change nor remove it", async () => {
    const contact = await create(customer);
    expect(errorOf(await stranger.call(`/v1/contacts/${contact.id}`))).toEqual(notFound);
    expect(errorOf(await change(stranger, contact.id, { firstName: "Mallory" }))).toEqual(notFound);
    expect(errorOf(await remove(stranger, contact.id))).toEqual(notFound);
    expect(await read(customer, contact.id)).toEqual(contact);
    expect((await list(stranger)).meta.total).toBe(0);
    expect(await findContact(stranger.organizationId, contact.id)).toBeUndefined();
  });

  it("is removed, once, and its number is free again", async () => {
    const { id, phoneNumber } = await create(customer);
    expect(await remove(customer, id)).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expect(errorOf(await remove(customer, id))).toEqual(notFound);
    expect(errorOf(await customer.call(`/v1/contacts/${id}`))).toEqual(notFound);
    expect((await create(customer, { phoneNumber })).id).not.toBe(id);
  });

  it("frees its place once, however many remove it at the same time", async () => {
    const { id } = await create(customer);
    const { total } = (await list(customer)).meta;
    const responses = await Promise.all(Array.from({ length: 5 }, async () => remove(customer, id)));
    expect(statusesOf(responses)).toEqual([200, 404, 404, 404, 404]);
    expect((await list(customer)).meta.total).toBe(total - 1);
  });

  it("is rejected when the organization is at its limit", async () => {
    const full = await Customer.register();
    await pretendContacts(full, maxContacts - 1);
    const { id } = await create(full);
    const json = { phoneNumber: newNumber() };
    expect(errorOf(await full.call("/v1/contacts", { json }))).toEqual(conflict);
    await remove(full, id);
    expect((await full.call("/v1/contacts", { json })).status).toBe(201);
  });
});

describe("attributes with names that every object has", () => {
  const attributes = { constructor: "a", toString: "b", hasOwnProperty: "c", valueOf: "d", prototype: "e" };

  it("are kept, changed and imported like any other", async () => {
    const contact = await create(customer, { attributes });
    expect(await read(customer, contact.id)).toEqual(contact);
    expect(Object.keys(contact.attributes)).toHaveLength(5);
    expect(contact.attributes).toEqual(attributes);
    const plain = await create(customer);
    expect((await change(customer, plain.id, { attributes })).status).toBe(200);
    expect(Object.entries((await read(customer, plain.id)).attributes)).toHaveLength(5);

    const rows = [newNumber(), newNumber(), newNumber()].map((phoneNumber) => ({ phoneNumber, attributes }));
    const imported = await customer.call("/v1/contacts/import", { json: { contacts: rows } });
    const { totals, results } = dataOf(imported, ImportedContacts);
    expect(totals).toEqual({ created: 3, duplicates: 0, invalid: 0 });
    const [first] = results;
    const id = first?.status === "created" ? first.id : "";
    expect(Object.entries((await read(customer, id)).attributes)).toHaveLength(5);
    expect((await list(customer, "limit=100")).rows.map((row) => row.id)).toContain(id);
  });

  it("fill the placeholders of campaigns and templates only if they are set", async () => {
    const sender = await Customer.register({ balance: 1 });
    const named = await create(sender, { attributes });
    await create(sender);
    const { id } = await sender.client.createCampaign({
      body: {
        name: "Names",
        message: "{{constructor}}{{toString}}{{hasOwnProperty}}",
        audience: { all: true },
        senderId: "ACME",
      },
    });
    await sender.client.launchCampaign({ params: { id } });
    await vi.waitFor(async () => {
      const { status, progress } = await sender.client.getCampaign({ params: { id } });
      expect({ status, unrenderable: progress.skipped.unrenderable }).toEqual({
        status: "completed",
        unrenderable: 1,
      });
    }, patience);
    const { rows } = await sender.client.listSms();
    expect(rows.map(({ to, message }) => ({ to, message }))).toEqual([
      { to: named.phoneNumber, message: "abc" },
    ]);

    const body = { name: "names", body: "{{constructor}} {{toString}}" };
    const { id: templateId } = await sender.client.createTemplate({ body });
    const send = async (raw: string): Promise<ApiResponse> =>
      sender.call(`/v1/templates/${templateId}/send`, { raw });
    const to = '"to":"15005550000","senderId":"ACME"';
    const missing = await send(`{${to},"values":{"__proto__":{"constructor":"x"}}}`);
    expect(invalidFields(missing)).toEqual(["values.constructor", "values.toString"]);
    expect((await send(`{${to},"values":{"constructor":"x","toString":"y"}}`)).status).toBe(202);
  });

  it("are never the prototype of anything", async () => {
    const raw = `{"phoneNumber":"${newNumber()}","attributes":{"__proto__":"x","city":"Oslo"}}`;
    const created = dataOf(await customer.call("/v1/contacts", { raw }), Contact);
    expect(created.attributes).toEqual({ city: "Oslo" });
    const contacts = `{"contacts":[${raw.replace(/\d{11}/, newNumber())},{"__proto__":{"phoneNumber":"1"}}]}`;
    const imported = await customer.call("/v1/contacts/import", { raw: contacts });
    expect(dataOf(imported, ImportedContacts).totals).toEqual({ created: 1, duplicates: 0, invalid: 1 });
  });
});

describe("a change of a contact", () => {
  it("changes only the given fields, and null clears one", async () => {
    const contact = await create(customer, {
      firstName: "Ada",
      lastName: "King",
      tags: ["vip"],
      attributes: { city: "London", plan: "gold" },
    });
    const changed = dataOf(
      await change(customer, contact.id, { firstName: null, attributes: { city: "Paris" }, optedOut: true }),
      Contact,
    );
    expect(changed).toEqual({
      id: contact.id,
      phoneNumber: contact.phoneNumber,
      lastName: "King",
      tags: ["vip"],
      attributes: { city: "Paris" },
      optedOut: true,
      createdAt: contact.createdAt,
      updatedAt: changed.updatedAt,
    });
    expect(Date.parse(changed.updatedAt)).toBeGreaterThanOrEqual(Date.parse(contact.updatedAt));
    const cleared = await change(customer, contact.id, { tags: null, attributes: null });
    expect(dataOf(cleared, Contact)).toMatchObject({ tags: [], attributes: {}, lastName: "King" });
  });

  it("without a field changes nothing", async () => {
    const contact = await create(customer, { firstName: "Ada" });
    const response = await change(customer, contact.id, {});
    expect(response.status).toBe(200);
    expect(dataOf(response, Contact)).toEqual(contact);
  });

  it.each([
    ["a number that is null", { phoneNumber: null }, "phoneNumber"],
    ["optedOut that is null", { optedOut: null }, "optedOut"],
    ["a tag twice", { tags: ["a", "a"] }, "tags"],
  ])("is rejected with %s", async (_name, fields, path) => {
    const { id } = await create(customer);
    const response = await change(customer, id, fields);
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual([path]);
  });

  it("keeps what others change at the same time", async () => {
    const { id } = await create(customer);
    const fields = { firstName: "Ada", lastName: "King", tags: ["vip"], optedOut: true };
    const phoneNumber = newNumber();
    const responses = await Promise.all(
      Object.entries({ ...fields, phoneNumber }).map(async ([field, value]) =>
        change(customer, id, { [field]: value }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await read(customer, id)).toMatchObject({ ...fields, phoneNumber });
  });

  it("may name its present number, and frees the old one for others when it gets another", async () => {
    const { id, phoneNumber } = await create(customer);
    expect((await change(customer, id, { phoneNumber })).status).toBe(200);
    const another = newNumber();
    expect(dataOf(await change(customer, id, { phoneNumber: another }), Contact).phoneNumber).toBe(another);
    await create(customer, { phoneNumber });
    expect(errorOf(await change(customer, id, { phoneNumber }))).toEqual(conflict);
  });
});

describe("a phone number", () => {
  it("belongs to one contact of an organization, and to one of each", async () => {
    const { phoneNumber } = await create(customer);
    expect(errorOf(await customer.call("/v1/contacts", { json: { phoneNumber } }))).toEqual(conflict);
    const { id } = await create(stranger, { phoneNumber });
    await remove(stranger, id);
  });

  it("goes to exactly one of several requests at the same time", async () => {
    const json = { phoneNumber: newNumber() };
    const created = await Promise.all(
      Array.from({ length: 10 }, async () => customer.call("/v1/contacts", { json })),
    );
    expect(statusesOf(created)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);

    const contacts = await Promise.all([create(customer), create(customer), create(customer)]);
    const phoneNumber = newNumber();
    const changed = await Promise.all(contacts.map(async ({ id }) => change(customer, id, { phoneNumber })));
    expect(statusesOf(changed)).toEqual([200, 409, 409]);
    const now = await Promise.all(contacts.map(async ({ id }) => read(customer, id)));
    expect(now.filter((contact) => contact.phoneNumber === phoneNumber)).toHaveLength(1);
  });

  it("is left to no one when its contact is removed while it changes its number", async () => {
    const { id, phoneNumber } = await create(customer);
    const another = newNumber();
    await Promise.all([change(customer, id, { phoneNumber: another }), remove(customer, id)]);
    // In both orders, both numbers are free once the contact is gone.
    expect((await customer.call(`/v1/contacts/${id}`)).status).toBe(404);
    await create(customer, { phoneNumber });
    await create(customer, { phoneNumber: another });
  });
});

describe("the list of contacts", () => {
  it("is newest first, by page and by cursor, and readable in order by campaigns", async () => {
    const lister = await Customer.register();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push((await create(lister)).id);
    const newestFirst = ids.toReversed();
    const idsOf = ({ rows }: { rows: readonly { id: string }[] }) => rows.map(({ id }) => id);

    const first = await list(lister, "limit=3");
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 3));
    expect(first.meta).toMatchObject({ page: 1, limit: 3, total: 5, totalPages: 2 });
    expect(idsOf(await list(lister, "limit=3&page=2"))).toEqual(newestFirst.slice(3));
    const next = await list(lister, `limit=3&cursor=${first.meta.nextCursor}`);
    expect(idsOf(next)).toEqual(newestFirst.slice(3));
    expect(next.meta.nextCursor).toBeUndefined();

    const { organizationId } = lister;
    const oldest = itemsOf(await readContacts(organizationId, { limit: 2 }));
    expect(idsOf({ rows: oldest })).toEqual(ids.slice(0, 2));
    const rest = itemsOf(await readContacts(organizationId, { after: ids[1], limit: 10 }));
    expect(idsOf({ rows: rest })).toEqual(ids.slice(2));
    expect(await findContact(organizationId, ids[0] ?? "")).toEqual(oldest[0]);
  });

  it.each(["does not continue from %s", "abc", "zzz"])("does not continue from %s", async (position) => {
    const cursor = Buffer.from(position).toString("base64url");
    const response = await customer.call(`/v1/contacts?cursor=${cursor}`);
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual(["cursor"]);
  });
});

describe("an import", () => {
  async function importAll(importer: Customer, contacts: readonly unknown[]): Promise<ImportedContacts> {
    const response = await importer.call("/v1/contacts/import", { json: { contacts } });
    expect(response.status).toBe(200);
    return dataOf(response, ImportedContacts);
  }

  function newRows(count: number): { phoneNumber: string; firstName: string }[] {
    return Array.from({ length: count }, (_, row) => ({ phoneNumber: newNumber(), firstName: `Row ${row}` }));
  }

  it("of 1,000 rows adds each of them, and the same one again adds none", async () => {
    const importer = await Customer.register();
    const rows = newRows(1_000);
    const first = await importAll(importer, rows);
    expect(first.totals).toEqual({ created: 1_000, duplicates: 0, invalid: 0 });
    expect(first.results.map(({ index }) => index)).toEqual(rows.map((_, index) => index));
    expect((await list(importer)).meta.total).toBe(1_000);
    const stored = itemsOf(await readContacts(importer.organizationId, { limit: maxContacts }));
    expect(new Set(stored.map(({ phoneNumber, firstName }) => `${phoneNumber} ${firstName}`))).toEqual(
      new Set(rows.map(({ phoneNumber, firstName }) => `${phoneNumber} ${firstName}`)),
    );

    const again = await importAll(importer, rows);
    expect(again.totals).toEqual({ created: 0, duplicates: 1_000, invalid: 0 });
    expect((await list(importer)).meta.total).toBe(1_000);
  });

  it("reports the result of each row in order, and no row stops another", async () => {
    const importer = await Customer.register();
    const [known, fine, other] = [newNumber(), newNumber(), newNumber()];
    await create(importer, { phoneNumber: known });
    const { results, totals } = await importAll(importer, [
      { phoneNumber: fine, tags: [" vip "] },
      { phoneNumber: "0123", firstName: 1 },
      { phoneNumber: known },
      null,
      { phoneNumber: fine },
      { phoneNumber: other },
    ]);
    expect(totals).toEqual({ created: 2, duplicates: 2, invalid: 2 });
    expect(results).toMatchObject([
      { index: 0, status: "created" },
      { index: 1, status: "invalid", details: [{ path: "phoneNumber" }, { path: "firstName" }] },
      { index: 2, status: "duplicate", phoneNumber: known },
      { index: 3, status: "invalid", details: [{ path: "" }] },
      { index: 4, status: "duplicate", phoneNumber: fine },
      { index: 5, status: "created" },
    ]);
    const stored = itemsOf(await readContacts(importer.organizationId, { limit: 10 }));
    expect(stored.map(({ phoneNumber }) => phoneNumber).toSorted()).toEqual([known, fine, other].toSorted());
    expect(stored.find(({ phoneNumber }) => phoneNumber === fine)?.tags).toEqual(["vip"]);
  });

  it("adds each row once, also when it runs in parallel or half of it has run before", async () => {
    const importer = await Customer.register();
    const rows = newRows(120);
    await importAll(importer, rows.slice(30, 90));
    const imports = await Promise.all(Array.from({ length: 3 }, async () => importAll(importer, rows)));
    const created = imports.reduce((sum, { totals }) => sum + totals.created, 0);
    expect(created).toBe(60);
    expect((await list(importer)).meta.total).toBe(120);
    expect(await readContacts(importer.organizationId, { limit: 1_000 })).toHaveLength(120);
  });

  it("fills the free places, and reports the rows without one", async () => {
    const importer = await Customer.register();
    const known = await create(importer);
    await pretendContacts(importer, maxContacts - 3);
    const rows = [...newRows(1), { phoneNumber: known.phoneNumber }, ...newRows(3)];
    const { results, totals } = await importAll(importer, rows);
    expect(totals).toEqual({ created: 2, duplicates: 1, invalid: 2 });
    expect(results.map(({ status }) => status)).toEqual([
      "created",
      "duplicate",
      "created",
      "invalid",
      "invalid",
    ]);
    expect((await list(importer)).meta.total).toBe(maxContacts);
  });

  it.each([
    ["without rows", { contacts: [] }],
    ["of 1,001 rows", { contacts: Array.from({ length: 1_001 }, () => ({})) }],
    ["of another type", { contacts: "15005550000" }],
  ])("%s is rejected as a whole", async (_name, json) => {
    const response = await customer.call("/v1/contacts/import", { json });
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual(["contacts"]);
  });
});
