import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { maxContacts, readContacts } from "../../shared/audience/contacts/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { itemsOf } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf } from "../support/api.ts";
import { createContact, listContacts, newNumber } from "../support/contact-calls.ts";
import { isOnEmulator } from "../support/emulator.ts";

/** Makes the organization look as if it had this number of contacts more. */
async function pretendContacts(customer: Customer, contacts: number): Promise<void> {
  await updateItem(
    z.unknown(),
    updateOf(keys.organization(customer.organizationId), { add: { contactCount: contacts } }),
  );
}

describe("an import", () => {
  async function importAll(
    importer: Customer,
    contacts: readonly unknown[],
    options: { onDuplicate?: "skip" | "update"; columns?: readonly string[]; dryRun?: boolean } = {},
  ): Promise<ImportedContacts> {
    const response = await importer.call("/v1/contacts/import", { json: { contacts, ...options } });
    expect(response.status).toBe(200);
    return dataOf(response, ImportedContacts);
  }

  function newRows(count: number): { phoneNumber: string; firstName: string }[] {
    return Array.from({ length: count }, (_, row) => ({ phoneNumber: newNumber(), firstName: `Row ${row}` }));
  }

  it("of many rows adds each of them, and the same one again adds none", async () => {
    const importer = await Customer.register();
    const size = isOnEmulator() ? 100 : 1_000;
    const rows = newRows(size);
    const first = await importAll(importer, rows);
    expect(first.totals).toEqual({ created: size, duplicates: 0, invalid: 0 });
    expect(first.results.map(({ index }) => index)).toEqual(rows.map((_, index) => index));
    expect((await listContacts(importer)).meta.total).toBe(size);
    const stored = itemsOf(await readContacts(importer.organizationId, { limit: maxContacts }));
    expect(new Set(stored.map(({ phoneNumber, firstName }) => `${phoneNumber} ${firstName}`))).toEqual(
      new Set(rows.map(({ phoneNumber, firstName }) => `${phoneNumber} ${firstName}`)),
    );

    const again = await importAll(importer, rows);
    expect(again.totals).toEqual({ created: 0, duplicates: size, invalid: 0 });
    expect((await listContacts(importer)).meta.total).toBe(size);
  });

  it("reports the result of each row in order, and no row stops another", async () => {
    const importer = await Customer.register();
    const [known, fine, other] = [newNumber(), newNumber(), newNumber()];
    await createContact(importer, { phoneNumber: known });
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
    expect((await listContacts(importer)).meta.total).toBe(120);
    expect(await readContacts(importer.organizationId, { limit: 1_000 })).toHaveLength(120);
  });

  it("updates a contact that has the number of a row: names are replaced, tags and attributes are added", async () => {
    const importer = await Customer.register();
    const [known, stopped, fresh] = [newNumber(), newNumber(), newNumber()];
    const before = { firstName: "Ada", tags: ["vip"], attributes: { city: "Oslo", date: "Monday" } };
    const { id } = await createContact(importer, { phoneNumber: known, ...before });
    await createContact(importer, { phoneNumber: stopped, optedOut: true });
    const rows = [
      { phoneNumber: known, lastName: "Lovelace", tags: ["week 2"], attributes: { date: "Tuesday" } },
      { phoneNumber: stopped, firstName: "Grace", optedOut: false },
      { phoneNumber: fresh },
      { phoneNumber: known, firstName: "Twice" },
    ];
    const tried = await importAll(importer, rows, { onDuplicate: "update", dryRun: true });
    const totals = { created: 1, updated: 2, duplicates: 1, invalid: 0 };
    expect(tried).toEqual({ totals, results: [{ index: 3, status: "duplicate", phoneNumber: known }] });
    expect((await importAll(importer, rows, { dryRun: true })).totals).toEqual({
      created: 1,
      duplicates: 3,
      invalid: 0,
    });
    expect((await listContacts(importer)).meta.total).toBe(2);

    const first = await importAll(importer, rows, { onDuplicate: "update" });
    expect(first.totals).toEqual(totals);
    expect(first.results[0]).toEqual({ index: 0, status: "updated", id });
    const again = await importAll(importer, rows, { onDuplicate: "update" });
    expect(again.totals).toEqual({ ...totals, created: 0, updated: 3 });
    const { rows: stored, meta } = await listContacts(importer);
    expect(meta.total).toBe(3);
    const changed = { firstName: "Ada", lastName: "Lovelace", tags: ["vip", "week 2"] };
    expect(stored.find(({ phoneNumber }) => phoneNumber === known)).toMatchObject({
      ...changed,
      attributes: { city: "Oslo", date: "Tuesday" },
    });
    expect(stored.find(({ phoneNumber }) => phoneNumber === stopped)).toMatchObject({
      firstName: "Grace",
      optedOut: true,
    });
  });

  it("clears a field of its columns that a row has no value for, and no other", async () => {
    const importer = await Customer.register();
    const [phoneNumber, other] = [newNumber(), newNumber()];
    const before = {
      firstName: "Ada",
      lastName: "Lovelace",
      tags: ["vip"],
      attributes: { time: "9:30", city: "Oslo" },
    };
    await createContact(importer, { phoneNumber, ...before });
    const rows = [{ phoneNumber, lastName: "King" }, { phoneNumber: other }];
    const columns = ["firstName", "lastName", "attributes.time", "attributes.note"];
    const stored = async () =>
      (await listContacts(importer)).rows.find((row) => row.phoneNumber === phoneNumber);
    for (const options of [{ onDuplicate: "skip", columns } as const, { onDuplicate: "update" } as const]) {
      await importAll(importer, [{ phoneNumber }], options);
      expect(await stored()).toMatchObject(before);
    }
    await importAll(importer, rows, { onDuplicate: "update", columns, dryRun: true });
    expect(await stored()).toMatchObject(before);
    await importAll(importer, rows, { onDuplicate: "update", columns });
    expect(await stored()).toMatchObject({ lastName: "King", tags: ["vip"], attributes: { city: "Oslo" } });
    expect(await stored()).not.toHaveProperty("firstName");
    expect(await stored()).not.toHaveProperty("attributes.time");
    const wrong = { contacts: rows, onDuplicate: "update", columns: ["tags"] };
    expect((await importer.call("/v1/contacts/import", { json: wrong })).status).toBe(400);
  });

  it("loses no tag of imports that update the same contacts at the same time", async () => {
    const importer = await Customer.register();
    const numbers = Array.from({ length: 5 }, () => newNumber());
    const tags = ["a", "b", "c"];
    const imports = tags.map(async (tag) =>
      importAll(
        importer,
        numbers.map((phoneNumber) => ({ phoneNumber, tags: [tag] })),
        { onDuplicate: "update" },
      ),
    );
    const created = (await Promise.all(imports)).reduce((sum, { totals }) => sum + totals.created, 0);
    expect(created).toBe(5);
    const { rows } = await listContacts(importer);
    expect(rows.map((row) => row.tags.toSorted())).toEqual(numbers.map(() => tags));
  });

  it("rejects a row that would give a contact too many tags or attributes", async () => {
    const importer = await Customer.register();
    const tags = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
    const { phoneNumber } = await createContact(importer, { tags });
    const rows = [{ phoneNumber, firstName: "Ada", tags: ["one more"] }];
    for (const dryRun of [true, false]) {
      const { results } = await importAll(importer, rows, { onDuplicate: "update", dryRun });
      expect(results).toMatchObject([{ index: 0, status: "invalid", details: [{ path: "tags" }] }]);
    }
    expect((await listContacts(importer)).rows[0]).not.toHaveProperty("firstName");
  });

  it("fills the free places, and reports the rows without one", async () => {
    const importer = await Customer.register();
    const known = await createContact(importer);
    await pretendContacts(importer, maxContacts - 3);
    const rows = [...newRows(1), { phoneNumber: known.phoneNumber }, ...newRows(3)];
    const tried = await importAll(importer, rows, { dryRun: true });
    const { results, totals } = await importAll(importer, rows);
    expect(totals).toEqual({ created: 2, duplicates: 1, invalid: 2 });
    expect(tried.totals).toEqual(totals);
    expect(results.map(({ status }) => status)).toEqual([
      "created",
      "duplicate",
      "created",
      "invalid",
      "invalid",
    ]);
    expect((await listContacts(importer)).meta.total).toBe(maxContacts);
  });
});
