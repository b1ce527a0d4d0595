import { expect, vi } from "vitest";

import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";
import { joinAs } from "../support/members.ts";
import { patience } from "../support/patience.ts";

it("saves a card, recharges automatically, and removes the card", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 30 });
  const visitor = await arriveAs(customer, "payments/cards", "Cards and auto-recharge");
  const { page } = visitor;
  await page.getByText("Add a card first.").waitFor();
  await page.getByRole("button", { name: "Add card" }).click();
  await page.getByRole("heading", { name: "Save a card" }).waitFor();
  await visitor.enterCard("4242424242424242");
  await visitor.heading("Cards and auto-recharge");
  await page.getByRole("cell", { name: "Visa •••• 4242" }).waitFor();

  await page.getByLabel("When the balance falls below (USD)").fill("40");
  await page.getByLabel("Amount of a recharge (USD)").fill("50");
  const limit = page.getByLabel("Monthly limit (USD)");
  await limit.fill("40");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Must be at least the amount of one recharge.").waitFor();
  await limit.fill("80");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Auto-recharge is on.").waitFor();
  await vi.waitFor(async () => expect((await customer.client.getWallet()).balance).toBe(80), patience);
  await page.reload();
  await page.getByText("US$50.00 of US$80.00").waitFor();
  await visitor.open("payments", "Payments");
  await page.getByRole("cell", { name: "Auto-recharge" }).waitFor();

  await visitor.open("payments/cards", "Cards and auto-recharge");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByText("Auto-recharge uses this card.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Card removed.").waitFor();
  expect(await customer.client.listPaymentMethods()).toEqual([]);
});

it("saves billing details, which decide the tax and who gets emails", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "payments/billing", "Billing details");
  const { page } = visitor;
  await page.getByLabel("Name on invoices").fill("Ada's shop GmbH");
  await page.getByLabel("Address (optional)").fill("Hauptstraße 1\n\n10115 Berlin");
  await page.getByLabel("Country").selectOption("Germany");
  await page.getByLabel("VAT number (optional)").fill("123");
  await page.getByRole("group", { name: "Warnings by email" }).getByLabel("Developer").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Must be a VAT number with the code of its country, such as DE136695976.").waitFor();
  await page.getByLabel("VAT number (optional)").fill("de 136 695 976");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Billing details saved.").waitFor();
  expect((await customer.client.getBilling()).details).toEqual({
    name: "Ada's shop GmbH",
    address: ["Hauptstraße 1", "10115 Berlin"],
    country: "DE",
    vatNumber: "DE136695976",
    emails: { payments: ["billing"], warnings: ["billing", "developer"] },
  });
  await page.getByLabel("VAT number (optional)").fill("GB 980 780 684");
  await page.getByLabel("Country").selectOption("United Kingdom");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The VAT number does not change the tax: there is no reverse charge in GB.").waitFor();
  await visitor.open("payments", "Payments");
  await page.getByRole("button", { name: "Add funds", exact: true }).click();
  await page.getByRole("button", { name: "100", exact: true }).click();
  await page.getByText("You payUS$120.00").waitFor();
});

it("lets members with the billing role pay, and explains to developers that they cannot", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const { page: ofBilling } = await arriveAs(await joinAs("billing", customer), "payments", "Payments");
  await ofBilling.getByText("No payments yet").waitFor();
  const { page } = await arriveAs(await joinAs("developer", customer), "payments", "Not available");
  await page.getByText("Your role does not allow this.").waitFor();
  expect(await page.getByRole("button", { name: "Add funds", exact: true }).count()).toBe(0);
});
