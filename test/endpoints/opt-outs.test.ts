import { beforeAll, describe, expect, it } from "vitest";

import { Contact, ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { OptOut } from "../../shared/api/contract/opt-outs.ts";
import { Customer, dataOf, errorOf, pageOf } from "../support/api.ts";

const rejected = { status: 403, code: "RECIPIENT_OPTED_OUT" };
const notFound = { status: 404, code: "NOT_FOUND" };

let lastNumber = 15_005_552_000;
function newNumber(): string {
  lastNumber += 1;
  return String(lastNumber);
}

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 5 });
});

async function optedOutOf(id: string): Promise<boolean> {
  return dataOf(await customer.call(`/v1/contacts/${id}`), Contact).optedOut;
}

async function isRejected(to: string): Promise<boolean> {
  const answer = await customer.trySend({ to, messageType: "marketing" });
  if (answer.status === 202) return false;
  expect(errorOf(answer)).toEqual(rejected);
  return true;
}

describe("an opt-out", () => {
  it("blocks only marketing to a number, also without a contact, until it is lifted", async () => {
    const { client } = customer;
    const phoneNumber = newNumber();
    const created = await client.createOptOut({ body: { phoneNumber } });
    expect(created).toMatchObject({ phoneNumber, source: "api" });
    expect(await client.getOptOut({ params: { phoneNumber } })).toEqual(created);
    expect(await isRejected(phoneNumber)).toBe(true);
    expect((await customer.trySend({ to: phoneNumber, messageType: "otp" })).status).toBe(202);
    expect((await customer.trySend({ to: phoneNumber })).status).toBe(202);

    // A repetition changes nothing.
    expect(await client.createOptOut({ body: { phoneNumber } })).toEqual(created);
    const lifted = await client.deleteOptOut({ params: { phoneNumber } });
    expect(lifted).toEqual({ phoneNumber, deleted: true });
    expect(await isRejected(phoneNumber)).toBe(false);
    for (const method of ["GET", "DELETE"]) {
      expect(errorOf(await customer.call(`/v1/opt-outs/${phoneNumber}`, { method }))).toEqual(notFound);
    }
  });

  it("belongs to one organization", async () => {
    const stranger = await Customer.register({ balance: 1 });
    const phoneNumber = newNumber();
    await customer.client.createOptOut({ body: { phoneNumber } });
    expect((await stranger.trySend({ to: phoneNumber, messageType: "marketing" })).status).toBe(202);
    expect(errorOf(await stranger.call(`/v1/opt-outs/${phoneNumber}`))).toEqual(notFound);
    expect(errorOf(await stranger.call(`/v1/opt-outs/${phoneNumber}`, { method: "DELETE" }))).toEqual(
      notFound,
    );
  });

  it("is listed by its number, page by page", async () => {
    const lister = await Customer.register();
    const numbers = [newNumber(), newNumber(), newNumber()];
    for (const phoneNumber of numbers.toReversed())
      await lister.client.createOptOut({ body: { phoneNumber } });
    const first = pageOf(await lister.call("/v1/opt-outs?limit=2"), OptOut);
    expect(first.rows.map(({ phoneNumber }) => phoneNumber)).toEqual(numbers.slice(0, 2));
    const { nextCursor = "" } = first.meta;
    const second = pageOf(await lister.call(`/v1/opt-outs?limit=2&cursor=${nextCursor}`), OptOut);
    expect(second.rows.map(({ phoneNumber }) => phoneNumber)).toEqual(numbers.slice(2));
    expect(second.meta.nextCursor).toBeUndefined();
  });
});

describe("a contact and the opt-out of its number", () => {
  it("always agree, also after a change of either", async () => {
    const { client } = customer;
    const phoneNumber = newNumber();
    const { id } = await client.createContact({ body: { phoneNumber } });
    await client.createOptOut({ body: { phoneNumber } });
    expect(await optedOutOf(id)).toBe(true);
    await client.deleteOptOut({ params: { phoneNumber } });
    expect(await optedOutOf(id)).toBe(false);

    await client.updateContact({ params: { id }, body: { optedOut: true } });
    expect(await client.getOptOut({ params: { phoneNumber } })).toMatchObject({ source: "contact" });
    await client.updateContact({ params: { id }, body: { optedOut: false } });
    expect(errorOf(await customer.call(`/v1/opt-outs/${phoneNumber}`))).toEqual(notFound);
    expect(await isRejected(phoneNumber)).toBe(false);
  });

  it("agree when the contact is removed, created again, or imported", async () => {
    const { client } = customer;
    const [phoneNumber, another] = [newNumber(), newNumber()];
    const { id } = await client.createContact({ body: { phoneNumber, optedOut: true } });
    await client.deleteContact({ params: { id } });
    expect(await isRejected(phoneNumber)).toBe(true);
    const made = await client.createContact({ body: { phoneNumber } });
    expect(made.optedOut).toBe(true);

    await client.createOptOut({ body: { phoneNumber: another } });
    const contacts = [{ phoneNumber: newNumber() }, { phoneNumber: another }];
    const imported = dataOf(
      await customer.call("/v1/contacts/import", { json: { contacts } }),
      ImportedContacts,
    );
    const ids = imported.results.flatMap((result) => (result.status === "created" ? [result.id] : []));
    expect(await Promise.all(ids.map(optedOutOf))).toEqual([false, true]);
  });

  it("are matched row by row in a large import with some opted-out numbers", async () => {
    const taken = newNumber();
    await customer.client.createContact({ body: { phoneNumber: taken } });
    const contacts = Array.from({ length: 40 }, (_, index) => ({
      phoneNumber: index === 20 ? taken : newNumber(),
      optedOut: index % 2 === 0,
    }));
    const imported = dataOf(
      await customer.call("/v1/contacts/import", { json: { contacts } }),
      ImportedContacts,
    );
    expect(imported.totals).toEqual({ created: 39, duplicates: 1, invalid: 0 });
    expect(imported.results[20]).toMatchObject({ status: "duplicate", phoneNumber: taken });
    for (const index of [18, 19, 22]) {
      expect(await isRejected(contacts[index]?.phoneNumber ?? "")).toBe(index % 2 === 0);
    }
  });

  it("move to another number together, and meet its existing opt-out", async () => {
    const { client } = customer;
    const [own, next, other] = [newNumber(), newNumber(), newNumber()];
    const { id } = await client.createContact({ body: { phoneNumber: own, optedOut: true } });
    await client.updateContact({ params: { id }, body: { phoneNumber: next } });
    expect(await isRejected(next)).toBe(true);
    const { id: second } = await client.createContact({ body: { phoneNumber: newNumber() } });
    await client.createOptOut({ body: { phoneNumber: other } });
    await client.updateContact({ params: { id: second }, body: { phoneNumber: other } });
    expect(await optedOutOf(second)).toBe(true);
  });
});
