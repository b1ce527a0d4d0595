import { beforeAll, expect } from "vitest";

import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";
import { joinAs } from "../support/members.ts";

/* Views, buttons and forms follow the role of the person. */

let customer: Customer;
let contactId: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  const contact = { phoneNumber: "15005550010", firstName: "Ada" };
  ({ id: contactId } = await customer.client.createContact({ body: contact }));
  await customer.client.createTemplate({ body: { name: "code", body: "Your code" } });
});

it("offers a sender messages, contacts and campaigns, and nothing about keys and money", async ({
  arriveAs,
}) => {
  const visitor = await arriveAs(await joinAs("sender", customer));
  const { page } = visitor;
  await visitor.settle();
  const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allInnerTexts();
  expect(links).toEqual([
    "Overview",
    "Send",
    "Messages",
    "Verifications",
    "Held messages",
    "Conversations",
    "Contacts",
    "Templates",
    "Campaigns",
    "Webhooks",
    "Wallet",
    "Usage",
    "Sender IDs",
    "Members",
    "Security",
  ]);
  await visitor.open("send", "Send a message");
  await visitor.fillMessage("15005550000", "From the desk");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "View message" }).or(page.getByText("Accepted")).first().waitFor();
  await visitor.open(`contacts/${contactId}`, "Ada");
  await page.getByLabel("First name").fill("Grace");
  await page.getByRole("button", { name: "Save" }).click();
  await visitor.heading("Grace");
  for (const address of ["api-keys", "payments", "payments/cards"]) {
    await visitor.open(address, "Not available");
    await page.getByText("Your role does not allow this.").waitFor();
  }
  expect(await visitor.violations()).toEqual([]);
  await visitor.open("wallet", "Wallet");
  expect(await page.locator("main").getByRole("button").allInnerTexts()).toEqual(["Filter"]);
  expect(await page.getByLabel("Daily spending limit").isDisabled()).toBe(true);
  expect(await visitor.violations()).toEqual([]);
  for (const [address, heading] of [
    ["webhooks", "Webhooks"],
    ["kyc", "Not available"],
    ["audit-log", "Not available"],
    ["members", "Members"],
  ] as const) {
    await visitor.open(address, heading);
    expect(await page.locator("main").getByRole("button").count(), address).toBe(0);
  }
});

it("shows a viewer the data without the actions, and follows a new role after a reload", async ({
  arriveAs,
}) => {
  const viewer = await joinAs("viewer", customer);
  const visitor = await arriveAs(viewer, "contacts", "Contacts");
  const { page } = visitor;
  await visitor.settle();
  const buttons = page.locator("main").locator("button:visible, a.button:visible");
  expect(await buttons.allInnerTexts()).toEqual(["Filter"]);
  await page
    .getByRole("link", { name: "Grace" })
    .or(page.getByRole("link", { name: "Ada" }))
    .click();
  await page.getByText("Your role does not allow this.").waitFor();
  expect(await page.getByLabel("First name").isDisabled()).toBe(true);
  expect(await buttons.count()).toBe(0);
  for (const [address, heading] of [
    ["templates", "Templates"],
    ["campaigns", "Campaigns"],
    ["held-messages", "Held messages"],
    ["sender-ids", "Sender IDs"],
  ] as const) {
    await visitor.open(address, heading);
    expect(await buttons.count(), address).toBe(0);
  }
  await visitor.open("campaigns/new", "Not available");
  const { rows } = await customer.client.listMembers();
  const { id = "" } = rows.find(({ email }) => email === viewer.email) ?? {};
  await customer.client.updateMember({ params: { id }, body: { role: "sender" } });
  await page.reload();
  await visitor.heading("New campaign");
});
