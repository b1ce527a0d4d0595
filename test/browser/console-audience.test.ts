import { readFile } from "node:fs/promises";

import { expect } from "vitest";

import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";

it("imports 10,000 contacts from a spreadsheet, and explains each row that was not imported", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "contacts/import", "Import contacts");
  const { page } = visitor;
  const good = Array.from(
    { length: 10_000 },
    (_, index) => `"+1 500 ${1_000_000 + index}";Grace;"gold; ${index % 3}";Łódź`,
  );
  const bad = ["12;Too short;;", `+1 500 1000000;Again;;`, `not a number;<img src=x onerror=alert(1)>;;`];
  const csv = ["Phone number;First name;Groups;City of birth", ...good, ...bad].join("\r\n");
  const choose = async (text: string): Promise<void> =>
    page
      .getByLabel("Spreadsheet")
      .setInputFiles({ name: "contacts.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await choose('Phone number\n"15005550000');
  await page.getByText("The file cannot be read.").waitFor();
  await choose(`\uFEFF${csv}`);
  await page.getByText("10,000 of 10,003 rows can be imported.").waitFor();
  await page.getByText("City: Łódź").or(page.getByText("City_of_birth: Łódź")).first().waitFor();
  await page.getByLabel("Tags for all contacts").fill("newsletter");
  await page.getByText("10,000 new, 0 updated, 0 left as they are.").waitFor({ timeout: 60_000 });
  await page.getByText("an earlier row has this number").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Import 10,000 contacts" }).click();
  await page.getByText("10,000 contacts imported.", { exact: true }).first().waitFor({ timeout: 100_000 });
  expect(await visitor.violations()).toEqual([]);
  const { rows, meta } = await customer.client.listContacts({ query: { limit: 1 } });
  expect(meta.total).toBe(10_000);
  expect(rows[0]).toMatchObject({ firstName: "Grace", attributes: { City_of_birth: "Łódź" } });
  expect(rows[0]?.tags).toEqual(expect.arrayContaining(["gold", "newsletter"]));
});

it("imports this week's Excel list over last week's, with numbers as people write them", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const { client } = customer;
  await client.createContact({
    body: {
      phoneNumber: "447700900120",
      firstName: "Ada",
      tags: ["monday"],
      attributes: { Appointment: "old" },
    },
  });
  const visitor = await arriveAs(customer, "contacts/import", "Import contacts");
  const { page } = visitor;
  await page.getByLabel("Spreadsheet").setInputFiles("test/browser/patients.xlsx");
  await page.getByText("3 of 3 rows can be imported.").waitFor();
  await page.getByLabel("Numbers without a country code are from").selectOption("");
  await page.getByText("1 of 3 rows can be imported.").waitFor();
  await page.getByLabel("Numbers without a country code are from").selectOption("GB");
  await page.getByText("3 of 3 rows can be imported.").waitFor();
  await page.getByText("Appointment: 24/11/2026 09:30").waitFor();
  await page.getByLabel("Write dates as").selectOption("2026-11-24");
  await page.getByText("Appointment: 2026-11-24 09:30").waitFor();
  await page.getByLabel("Tags for all contacts").fill("reminder");
  await page.getByText("2 new, 1 updated, 0 left as they are.").waitFor();
  await page.getByLabel("Contacts that exist already").selectOption("Leave them as they are");
  await page.getByText("2 new, 0 updated, 1 left as they are.").waitFor();
  await page.getByLabel("Contacts that exist already").selectOption("Update them");
  await page.getByText("2 new, 1 updated, 0 left as they are.").waitFor();
  await page.getByRole("button", { name: "Import 3 contacts" }).click();
  await page.getByText("3 of 3 rows processed: 2 new, 1 updated, 0 not imported.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByLabel("Contacts that exist already").selectOption("Leave them as they are");
  await page.getByRole("button", { name: "Import 3 contacts" }).click();
  await page.getByRole("alert").getByText("0 contacts imported.").waitFor();
  await page.getByRole("link", { name: "New campaign" }).click();
  await page.getByLabel("reminder (3)").waitFor();
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(1);
  expect(await page.getByLabel("reminder (3)").isChecked()).toBe(true);
  await visitor.open("contacts", "Contacts");
  await page.getByLabel("Name or number").fill("brewster");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "Grace Brewster Hopper" }).waitFor();
  await page.getByRole("link", { name: "Ada Lovelace" }).waitFor({ state: "detached" });
  const { rows } = await client.listContacts({});
  expect(Object.fromEntries(rows.map(({ phoneNumber, ...contact }) => [phoneNumber, contact]))).toMatchObject(
    {
      447700900120: {
        firstName: "Ada",
        lastName: "Lovelace",
        tags: ["monday", "tuesday", "reminder"],
        attributes: { Appointment: "2026-11-24" },
      },
      447700900121: {
        firstName: "Grace",
        lastName: "Brewster Hopper",
        attributes: { Appointment: "2026-11-24 09:30" },
      },
      15005550000: { firstName: "Plato", tags: ["reminder"] },
    },
  );
});

it("imports a list that replaces the one before, and asks what its digits mean", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const { client } = customer;
  for (const [phoneNumber, time] of [
    ["491711000000", "9:30"],
    ["491711000001", "10:00"],
  ] as const) {
    await client.createContact({
      body: { phoneNumber, tags: ["week"], attributes: { Uhrzeit: time, Ort: "Bonn" } },
    });
  }
  await client.createTemplate({ body: { name: "reminder", body: "{{Vorname}}, bis {{Uhrzeit}} Uhr!" } });
  const visitor = await arriveAs(customer, "contacts/import", "Import contacts");
  const { page } = visitor;
  const csv = "Telefon;Vorname;Uhrzeit\r\n0171 1000000;Özlem;\r\n971501234567;Zoë;8:15\r\n";
  await page
    .getByLabel("Spreadsheet")
    .setInputFiles({ name: "week.csv", mimeType: "text/csv", buffer: Buffer.from(csv, "utf16le") });
  await page.getByLabel("Numbers without a country code are from").selectOption("DE");
  await page.getByText("could be +49 971 501234567 or +971 50 123 4567: choose above").first().waitFor();
  await page.getByLabel("Numbers such as 971501234567").selectOption("With a country code: +971 50 123 4567");
  await page.getByText("2 of 2 rows can be imported.").waitFor();
  await page.getByLabel("Use a template").selectOption("reminder");
  await page.getByText("Zoë, bis 8:15 Uhr!").waitFor();
  await page.getByText("✕ No value for Uhrzeit").waitFor();
  await page.getByLabel("Tags for all contacts").fill("week");
  await page.getByLabel("Remove the tag week from people who are not in this file").check();
  await page.getByText("1 new, 1 updated, 0 left as they are.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Import 2 contacts" }).click();
  await page.getByText("1 contact lost the tag week.").waitFor();
  const { rows } = await client.listContacts({});
  const contacts = rows.map(({ phoneNumber, tags, attributes }) => [phoneNumber, { tags, attributes }]);
  expect(Object.fromEntries(contacts)).toEqual({
    491711000000: { tags: ["week"], attributes: { Ort: "Bonn" } },
    491711000001: { tags: [], attributes: { Uhrzeit: "10:00", Ort: "Bonn" } },
    971501234567: { tags: ["week"], attributes: { Uhrzeit: "8:15" } },
  });
});

it("adds, changes and deletes a contact, and adds and removes an opt-out", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "contacts", "Contacts");
  const { page } = visitor;
  await page.getByRole("button", { name: "Add contact" }).first().click();
  await page.getByLabel("Phone number").fill("+1 500 555 0010");
  await page.getByLabel("Tags").fill("customers, London");
  await page.getByLabel("Attributes").fill("city: London");
  await page.getByRole("dialog").getByRole("button", { name: "Add contact" }).click();
  await page.getByRole("link", { name: "+1 500 555 0010" }).click();
  await visitor.heading("+1 500 555 0010");
  await page.getByLabel("First name").fill("Grace");
  await page.getByRole("button", { name: "Save" }).click();
  await visitor.heading("Grace");
  const [contact] = (await customer.client.listContacts()).rows;
  expect(contact).toMatchObject({
    firstName: "Grace",
    tags: ["customers", "London"],
    attributes: { city: "London" },
  });
  await visitor.confirm("Delete");
  await page.getByText("No contacts yet").waitFor();
  await page.getByRole("link", { name: "Opt-outs" }).click();
  await visitor.heading("Opt-outs");
  await page.getByRole("button", { name: "Add opt-out" }).click();
  await page.getByLabel("Phone number").fill("+1 500 555 0012");
  await page.getByRole("button", { name: "Opt out", exact: true }).click();
  await page.getByText("Added by you").waitFor();
  await visitor.confirm("Remove");
  await page.getByText("No opt-outs yet").waitFor();
});

it("exports, tags, untags and deletes the contacts that a filter finds", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const { client } = customer;
  for (const [index, firstName] of ["Ada", "Adam", "Grace"].entries()) {
    const attributes = index === 0 ? { city: "London" } : {};
    await client.createContact({ body: { phoneNumber: `1500555010${index}`, firstName, attributes } });
  }
  const visitor = await arriveAs(customer, "contacts?search=ada", "Contacts");
  const { page } = visitor;
  await page.getByRole("link", { name: "Adam" }).waitFor();
  const tag = async (what: string): Promise<void> => {
    await page.getByRole("button", { name: "Tag these" }).click();
    await page.getByRole("dialog").getByLabel("Tag").fill("vip");
    await page
      .getByRole("dialog")
      .getByLabel("Change")
      .selectOption({ label: `${what} all contacts of the list` });
    await page.getByRole("button", { name: "Change contacts" }).click();
    await page.getByText("2 contacts changed.").waitFor();
  };
  await tag("Add the tag to");
  const tagged = async () =>
    (await client.listContacts({ query: { tag: "vip" } })).rows.map(({ firstName }) => firstName);
  expect(await tagged()).toEqual(["Adam", "Ada"]);
  const saved = await visitor.exportCsv();
  const [titles, ...lines] = (await readFile(await saved.path(), "utf8")).trim().split("\r\n");
  expect(titles).toMatch(/phoneNumber,firstName,lastName,tags,optedOut,createdAt,city$/);
  expect(lines).toEqual([
    expect.stringMatching(/^\+1 500 555 0101,Adam,,vip,,2.*,$/),
    expect.stringMatching(/^\+1 500 555 0100,Ada,,vip,,2.*,London$/),
  ]);
  await page.goBack();
  await page.getByRole("link", { name: "Adam" }).waitFor();
  await tag("Remove the tag from");
  expect(await tagged()).toEqual([]);
  const all = (await client.listContacts()).meta.total;
  await visitor.confirm("Delete these");
  await page.getByText("2 contacts deleted.").waitFor();
  await page.getByText("No contacts match").waitFor();
  expect((await client.listContacts()).meta.total).toBe(all - 2);
  // Without a filter, two clicks would delete the whole address book.
  await page.getByRole("link", { name: "Show all contacts" }).click();
  await page.getByRole("link", { name: "Grace" }).waitFor();
  expect(await page.getByRole("button", { name: "Delete these" }).count()).toBe(0);
});
