import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { Contact } from "../../shared/api/contract/contacts.ts";
import { maxContacts, findContact, readContacts } from "../../shared/audience/contacts/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { itemsOf } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf, invalidFields, statusesOf, type ApiResponse } from "../support/api.ts";
import {
  changeContact,
  createContact,
  listContacts,
  newNumber,
  readContact,
} from "../support/contact-calls.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };
const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };

async function remove(customer: Customer, id: string): Promise<ApiResponse> {
  return customer.call(`/v1/contacts/${id}`, { method: "DELETE" });
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
    const full = await createContact(customer, { ...fields, unknown: 1 });
    expect(full).toMatchObject(fields);
    expect(full.updatedAt).toBe(full.createdAt);
    expect(await readContact(customer, full.id)).toEqual(full);

    const plain = await createContact(customer);
    expect(plain).toMatchObject({ tags: [], attributes: {}, optedOut: false });
    expect(plain).not.toHaveProperty("firstName");
  });

  it("is not found by another organization, which can neither change nor remove it", async () => {
    const contact = await createContact(customer);
    expect(errorOf(await stranger.call(`/v1/contacts/${contact.id}`))).toEqual(notFound);
    expect(errorOf(await changeContact(stranger, contact.id, { firstName: "Mallory" }))).toEqual(notFound);
    expect(errorOf(await remove(stranger, contact.id))).toEqual(notFound);
    expect(await readContact(customer, contact.id)).toEqual(contact);
    expect((await listContacts(stranger)).meta.total).toBe(0);
    expect(await findContact(stranger.organizationId, contact.id)).toBeUndefined();
  });

  it("is removed, once, and its number is free again", async () => {
    const { id, phoneNumber } = await createContact(customer);
    expect(await remove(customer, id)).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expect(errorOf(await remove(customer, id))).toEqual(notFound);
    expect(errorOf(await customer.call(`/v1/contacts/${id}`))).toEqual(notFound);
    expect((await createContact(customer, { phoneNumber })).id).not.toBe(id);
  });

  it("frees its place once, however many remove it at the same time", async () => {
    const { id } = await createContact(customer);
    const { total } = (await listContacts(customer)).meta;
    const responses = await Promise.all(Array.from({ length: 5 }, async () => remove(customer, id)));
    expect(statusesOf(responses)).toEqual([200, 404, 404, 404, 404]);
    expect((await listContacts(customer)).meta.total).toBe(total - 1);
  });

  it("is rejected when the organization is at its limit", async () => {
    const full = await Customer.register();
    await pretendContacts(full, maxContacts - 1);
    const { id } = await createContact(full);
    const json = { phoneNumber: newNumber() };
    expect(errorOf(await full.call("/v1/contacts", { json }))).toEqual(conflict);
    await remove(full, id);
    expect((await full.call("/v1/contacts", { json })).status).toBe(201);
  });
});

describe("a change of a contact", () => {
  it("changes only the given fields, and null clears one", async () => {
    const contact = await createContact(customer, {
      firstName: "Ada",
      lastName: "King",
      tags: ["vip"],
      attributes: { city: "London", plan: "gold" },
    });
    const changed = dataOf(
      await changeContact(customer, contact.id, {
        firstName: null,
        attributes: { city: "Paris" },
        optedOut: true,
      }),
      Contact,
    );
    expect(changed).toEqual({
      id: contact.id,
      phoneNumber: contact.phoneNumber,
      lastName: "King",
      tags: ["vip"],
      attributes: { city: "Paris" },
      optedOut: true,
      version: 2,
      createdAt: contact.createdAt,
      updatedAt: changed.updatedAt,
    });
    expect(Date.parse(changed.updatedAt)).toBeGreaterThanOrEqual(Date.parse(contact.updatedAt));
    const cleared = await changeContact(customer, contact.id, { tags: null, attributes: null });
    expect(dataOf(cleared, Contact)).toMatchObject({ tags: [], attributes: {}, lastName: "King" });
  });

  it("without a field changes nothing", async () => {
    const contact = await createContact(customer, { firstName: "Ada" });
    const response = await changeContact(customer, contact.id, {});
    expect(response.status).toBe(200);
    expect(dataOf(response, Contact)).toEqual(contact);
  });

  it("keeps what others change at the same time", async () => {
    const { id } = await createContact(customer);
    const fields = { firstName: "Ada", lastName: "King", tags: ["vip"], optedOut: true };
    const phoneNumber = newNumber();
    const responses = await Promise.all(
      Object.entries({ ...fields, phoneNumber }).map(async ([field, value]) =>
        changeContact(customer, id, { [field]: value }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await readContact(customer, id)).toMatchObject({ ...fields, phoneNumber });
  });

  it("may name its present number, and frees the old one for others when it gets another", async () => {
    const { id, phoneNumber } = await createContact(customer);
    expect((await changeContact(customer, id, { phoneNumber })).status).toBe(200);
    const another = newNumber();
    expect(dataOf(await changeContact(customer, id, { phoneNumber: another }), Contact).phoneNumber).toBe(
      another,
    );
    await createContact(customer, { phoneNumber });
    expect(errorOf(await changeContact(customer, id, { phoneNumber }))).toEqual(conflict);
  });
});

describe("a phone number", () => {
  it("belongs to one contact of an organization, and to one of each", async () => {
    const { phoneNumber } = await createContact(customer);
    expect(errorOf(await customer.call("/v1/contacts", { json: { phoneNumber } }))).toEqual(conflict);
    const { id } = await createContact(stranger, { phoneNumber });
    await remove(stranger, id);
  });

  it("goes to exactly one of several requests at the same time", async () => {
    const json = { phoneNumber: newNumber() };
    const created = await Promise.all(
      Array.from({ length: 10 }, async () => customer.call("/v1/contacts", { json })),
    );
    expect(statusesOf(created)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);

    const contacts = await Promise.all([
      createContact(customer),
      createContact(customer),
      createContact(customer),
    ]);
    const phoneNumber = newNumber();
    const changed = await Promise.all(
      contacts.map(async ({ id }) => changeContact(customer, id, { phoneNumber })),
    );
    expect(statusesOf(changed)).toEqual([200, 409, 409]);
    const now = await Promise.all(contacts.map(async ({ id }) => readContact(customer, id)));
    expect(now.filter((contact) => contact.phoneNumber === phoneNumber)).toHaveLength(1);
  });

  it("is left to no one when its contact is removed while it changes its number", async () => {
    const { id, phoneNumber } = await createContact(customer);
    const another = newNumber();
    await Promise.all([changeContact(customer, id, { phoneNumber: another }), remove(customer, id)]);
    // In both orders, both numbers are free once the contact is gone.
    expect((await customer.call(`/v1/contacts/${id}`)).status).toBe(404);
    await createContact(customer, { phoneNumber });
    await createContact(customer, { phoneNumber: another });
  });
});

describe("the list of contacts", () => {
  it("is filtered by name, by a number as people write it, and by tag", async () => {
    const owner = await Customer.register();
    const ada = await createContact(owner, {
      phoneNumber: "447700900123",
      firstName: "Ada",
      lastName: "Lovelace",
      tags: ["tuesday"],
    });
    const grace = await createContact(owner, {
      phoneNumber: "447700900124",
      firstName: "Grace",
      tags: ["vip"],
    });
    const idsOf = async (query: Record<string, string>): Promise<string[]> =>
      (await listContacts(owner, new URLSearchParams(query).toString())).rows.map(({ id }) => id);
    expect(await idsOf({ search: "ada love" })).toEqual([ada.id]);
    expect(await idsOf({ search: "07700 9001" })).toEqual([grace.id, ada.id]);
    expect(await idsOf({ search: "+44 7700 900124" })).toEqual([grace.id]);
    expect(await idsOf({ search: "447700900124", tag: "tuesday" })).toEqual([]);
    expect(await idsOf({ tag: "tuesday" })).toEqual([ada.id]);
    expect(await idsOf({ search: "nobody" })).toEqual([]);
    const { meta, rows } = await listContacts(owner, "search=7700&limit=1");
    expect([rows, meta.total]).toEqual([[grace], 2]);
    expect(await idsOf({ search: "7700", limit: "1", cursor: meta.nextCursor ?? "" })).toEqual([ada.id]);
    const rejected = await owner.call("/v1/contacts?search=%20&tag=%2F");
    expect(invalidFields(rejected).toSorted()).toEqual(["search", "tag"]);
  });

  it("is newest first, by page and by cursor, and readable in order by campaigns", async () => {
    const lister = await Customer.register();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push((await createContact(lister)).id);
    const newestFirst = ids.toReversed();
    const idsOf = ({ rows }: { rows: readonly { id: string }[] }) => rows.map(({ id }) => id);

    const first = await listContacts(lister, "limit=3");
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 3));
    expect(first.meta).toMatchObject({ page: 1, limit: 3, total: 5, totalPages: 2 });
    expect(idsOf(await listContacts(lister, "limit=3&page=2"))).toEqual(newestFirst.slice(3));
    const next = await listContacts(lister, `limit=3&cursor=${first.meta.nextCursor}`);
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
