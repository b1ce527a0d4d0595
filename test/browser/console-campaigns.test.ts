import { readFile } from "node:fs/promises";

import { expect } from "vitest";
import * as z from "zod/mini";

import { PageMeta } from "../../shared/api/contract/primitives.ts";
import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";

it("creates a campaign, estimates its audience and cost, launches it and sees it completed", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.client.importContacts({
    body: {
      contacts: [
        { phoneNumber: "15005550010", firstName: "Grace", tags: ["customers"] },
        { phoneNumber: "447700900123", firstName: "Ada", tags: ["customers"] },
        { phoneNumber: "15005550011", tags: ["customers"] },
        { phoneNumber: "15005550012", firstName: "Edsger", tags: ["customers"], optedOut: true },
        { phoneNumber: "15005550013", firstName: "Alan", tags: ["others"] },
      ],
    },
  });
  await customer.client.createTemplate({
    body: { name: "sale", body: "Hello {{firstName}}, the sale begins." },
  });
  const visitor = await arriveAs(customer, "campaigns/new", "New campaign");
  const { page } = visitor;
  await page.getByLabel("Name").fill("Autumn sale");
  await page.getByLabel("Use a template").selectOption("sale");
  await page.getByLabel("From").fill("ADASHOP");
  await page.getByLabel("customers (4)").check();
  await page.getByText("2 messages, US$0.0539").waitFor();
  await page.getByText("1 skipped", { exact: true }).waitFor();
  await page.getByText("1 skipped: missing value or text too long").waitFor();
  await page.getByRole("button", { name: "Save draft" }).click();
  await visitor.heading("Autumn sale");
  await page.getByText("2 messages, US$0.0539").waitFor();
  await page.getByRole("link", { name: "Edit" }).click();
  await visitor.heading("Edit campaign");
  expect(await page.getByLabel("customers (4)").isChecked()).toBe(true);
  await page.getByLabel("Name").fill("Winter sale");
  await page.getByRole("button", { name: "Save draft" }).click();
  await visitor.heading("Winter sale");
  await page.getByRole("link", { name: "Copy" }).click();
  await visitor.heading("New campaign");
  expect(await page.getByLabel("Name").inputValue()).toBe("Winter sale (copy)");
  await page.goBack();
  await visitor.heading("Winter sale");
  const sample = page.getByText(/^As (Ada|Grace) gets it\.$/);
  await sample.waitFor();
  const [, name] = (await sample.innerText()).split(" ");
  await page.getByRole("link", { name: "Send a test to me" }).click();
  await visitor.heading("Send a message");
  await expect
    .poll(async () => page.getByLabel("Message", { exact: true }).inputValue())
    .toBe(`Hello ${name}, the sale begins.`);
  expect(await page.getByLabel("From").inputValue()).toBe("ADASHOP");
  await page.goBack();
  await visitor.heading("Winter sale");
  // A person can launch it only when the count is shown.
  const counted = Promise.withResolvers<void>();
  await page.route("**/v1/contacts?*", async (route) => {
    await counted.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Launch" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Loading contacts…").waitFor();
  expect(await dialog.getByRole("button", { name: "Launch" }).count()).toBe(0);
  counted.resolve();
  await dialog.getByText("2 messages, US$0.0539").waitFor();
  await dialog.getByRole("button", { name: "Launch" }).click();
  await page.getByText("✓ completed").waitFor();
  // The gateway's result matches the estimate.
  const [campaign] = (await customer.client.listCampaigns()).rows;
  expect(campaign?.progress).toMatchObject({
    accepted: 2,
    charged: 0.0539,
    skipped: { optedOut: 1, unrenderable: 1 },
  });
});

it("offers the fields of the people, and names a placeholder that none of them has", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.client.createContact({
    body: { phoneNumber: "15005550010", firstName: "Özlem", attributes: { Uhrzeit: "9:30" } },
  });
  const visitor = await arriveAs(customer, "campaigns/new", "New campaign");
  const { page } = visitor;
  const message = page.getByLabel("Message", { exact: true });
  await page.getByLabel("Name").fill("Reminder");
  await page.getByLabel("From").fill("ADASHOP");
  await page.getByLabel("Send to all contacts").check();
  await message.fill("Hallo {{Vorname}}, bis {{Uhrzeitt}} Uhr in {Uhrzeit}!");
  await page
    .getByText("None of these contacts has a value for {{Uhrzeitt}}. Did you mean {{Uhrzeit}}?")
    .waitFor();
  await page.getByText("{Uhrzeit} is sent as it is. Did you mean {{Uhrzeit}}?").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.locator("textarea[aria-invalid=true]").waitFor();
  await message.fill("Hallo {{Vorname}}, bis  Uhr!");
  await message.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(23, 23));
  await page.getByRole("button", { name: "{{Uhrzeit}}" }).click();
  expect(await message.inputValue()).toBe("Hallo {{Vorname}}, bis {{Uhrzeit}} Uhr!");
  await page.getByText("Hallo Özlem, bis 9:30 Uhr!").waitFor();
  await page.getByRole("button", { name: "Save draft" }).click();
  await visitor.heading("Reminder");
  const [campaign] = (await customer.client.listCampaigns()).rows;
  expect(campaign?.message).toBe("Hallo {{firstName}}, bis {{Uhrzeit}} Uhr!");
});

it("shows the people of a campaign by outcome, exports them, and drafts it again for those who failed", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const { client } = customer;
  const contacts = [
    { phoneNumber: "15005550000", firstName: "Ada" },
    { phoneNumber: "15005550002", firstName: "Grace" },
    { phoneNumber: "15005550012", firstName: "Edsger", optedOut: true },
  ];
  await client.importContacts({ body: { contacts } });
  const { id } = await client.createCampaign({
    body: { name: "Autumn sale", message: "Hello", audience: { all: true }, senderId: "ADASHOP" },
  });
  const visitor = await arriveAs(customer, `campaigns/${id}`, "Autumn sale");
  const { page } = visitor;
  await visitor.confirm("Launch");
  await page.getByText("✓ completed").waitFor();
  const count = (name: string) => page.locator("dl.facts div").filter({ hasText: name }).getByRole("link");
  await count("Skipped: opted out").click();
  await visitor.heading("People of the campaign");
  await page.getByRole("link", { name: "Edsger" }).waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.goBack();
  await count("Failed").click();
  await page.getByRole("link", { name: "Grace" }).waitFor();
  await page.getByText("MESSAGE_UNROUTABLE").waitFor();
  await page.getByRole("link", { name: "+1 500 555 0002" }).click();
  await visitor.heading("Message to +1 500 555 0002");
  await page.getByRole("link", { name: "Autumn sale" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Grace" }).waitFor();
  const download = await visitor.exportCsv();
  expect(await readFile(await download.path(), "utf8")).toContain(
    "+1 500 555 0002,Grace,failed,MESSAGE_UNROUTABLE",
  );
  await page.goBack();
  await visitor.confirm("Send again");
  await visitor.heading("Autumn sale (again)");
  const [grace] = (await client.listContacts({ query: { search: "Grace" } })).rows;
  const [draft] = (await client.listCampaigns()).rows;
  expect(draft).toMatchObject({ status: "draft", audience: { contactIds: [grace?.id] } });
  await visitor.confirm("Delete");
  await visitor.heading("Campaigns");
  expect((await client.listCampaigns()).meta.total).toBe(1);
});

it("pauses a campaign that waits for the daily cap, and resumes it", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const { client } = customer;
  await client.importContacts({
    body: { contacts: [{ phoneNumber: "15005550000" }, { phoneNumber: "15005550005" }] },
  });
  await client.updateWallet({ body: { dailySpendCap: 0.01 } });
  const { id } = await client.createCampaign({
    body: { name: "Autumn sale", message: "Hello", audience: { all: true }, senderId: "ADASHOP" },
  });
  await client.launchCampaign({ params: { id } });
  const visitor = await arriveAs(customer, `campaigns/${id}`, "Autumn sale");
  const { page } = visitor;
  await page.getByText("You reached a daily spending limit.").waitFor();
  await visitor.confirm("Pause");
  await page.getByText("– paused").waitFor();
  await client.updateWallet({ body: { dailySpendCap: null } });
  await visitor.confirm("Resume");
  await page.getByText("✓ completed").waitFor();
  expect((await client.getCampaign({ params: { id } })).progress).toMatchObject({ accepted: 2, sent: 2 });
});

it("shows a minimum for a campaign with more contacts than it has read", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.client.createContact({ body: { phoneNumber: "15005550010" } });
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await page.route(/\/v1\/contacts\?/, async (route) => {
    const response = await route.fetch();
    const Contacts = z.object({ data: z.array(z.unknown()).check(z.length(1)), meta: PageMeta });
    const { data, meta } = Contacts.parse(await response.json());
    await route.fulfill({
      json: {
        data: Array.from({ length: 10_000 }, () => data[0]),
        meta: { ...meta, total: 23_000, nextCursor: "more" },
      },
    });
  });
  await visitor.open("campaigns/new", "New campaign");
  await page.getByLabel("Send to all contacts").check();
  await page.getByLabel("Message", { exact: true }).fill("Hello");
  await page.getByText("At least 10,000 messages, US$79.00").waitFor();
  await page.getByText("This estimate covers the newest 10,000 of 23,000 contacts.").waitFor();
  await page.getByLabel("Send to all contacts").uncheck();
  await page.getByText("The tags of your newest 10,000 contacts.").waitFor();
  expect(await visitor.violations()).toEqual([]);
});
