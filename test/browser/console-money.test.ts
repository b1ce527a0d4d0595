import { readFile } from "node:fs/promises";

import type { Download } from "playwright-core";
import { expect, vi } from "vitest";

import { call, Customer, password } from "../support/api.ts";
import { faultsOn } from "../support/browser.ts";
import { it } from "../support/console.ts";
import { linkIn } from "../support/emails.ts";
import { patience } from "../support/patience.ts";

async function linesOf(saved: Download): Promise<string[]> {
  return (await readFile(await saved.path(), "utf8")).trim().split("\r\n");
}

it("exports the whole ledger", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  const { id } = await customer.send();
  const visitor = await arriveAs(customer, "wallet", "Wallet");
  const lines = await linesOf(await visitor.exportCsv());
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe(
    "createdAt,id,type,amount,balanceAfter,currency,messageId,to,country,segments,campaignId,paymentId,reason,reference,verificationId",
  );
  expect(lines[1]).toContain(`message,-0.0079,4.9921,USD,${id},+1 500 555 0000,US,1,,,,`);
  expect(lines[2]).toContain("top_up,5,5,USD,,");
});

it("exports the messages that a filter finds", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  const { id } = await customer.send({ message: "=1+1" });
  await customer.send({ to: "15005550007" });
  const visitor = await arriveAs(customer, "messages?search=1%2B1", "Messages");
  await visitor.page.getByRole("link", { name: "+1 500 555 0000" }).waitFor();
  const [titles, ...lines] = await linesOf(await visitor.exportCsv());
  expect(titles).toMatch(
    /^\uFEFF?id,to,senderId,status,errorCode,message,.*,delivery,.*,price,currency,reference,metadata$/,
  );
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${id},\\+1 500 555 0000,ACME,\\w+,,'=1\\+1,.*,1,0.0079,USD,,$`)),
  ]);
});

it("keeps the file of an export, and an email leads to it", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  const [, token] = (await linkIn(customer.email, "Verify your email")).split("#verify=");
  await call("/v1/auth/verify-email", { json: { token, password } });
  await customer.client.createExport({ body: { transactions: {} } });
  const [, view = ""] = (await linkIn(customer.email, "Your export is ready")).split("#/");
  const visitor = await arriveAs(customer, view, "Export");
  await visitor.page.getByText("1 row exported.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  expect((await visitor.save("Save")).suggestedFilename()).toBe("transactions.xlsx");
  const saved = await visitor.saveAsCsv();
  expect(saved.suggestedFilename()).toBe("transactions.csv");
  expect(await linesOf(saved)).toHaveLength(2);
  await visitor.page.getByRole("link", { name: "← Ledger" }).click();
  await visitor.heading("Wallet");
});

it("explains why the file of a new export was not saved, and saves it again", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  const visitor = await arriveAs(customer, "wallet", "Wallet");
  const { page } = visitor;
  await page.route("**/v1/exports/*/parts/1", async (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("alert").waitFor();
  expect(await linesOf(await visitor.saveAsCsv())).toHaveLength(2);
  expect(await page.getByRole("alert").count()).toBe(0);
});

it("groups the ledger by day with its sum, and filters it by type and day", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  const { pricing } = await customer.send({ to: "447400123456" });
  const visitor = await arriveAs(customer, "wallet", "Wallet");
  const { page } = visitor;
  const rows = page.getByRole("table", { name: "Ledger" }).getByRole("row");
  const today = new Date();
  const day = today.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const sum = `Total +US$${String(5 - pricing.total)}`;
  expect((await rows.nth(1).innerText()).split(/\s*\n\s*/)).toEqual([`${day} (UTC)`, sum]);
  await page.getByText("+44 7400 123456").waitFor();
  expect(await rows.nth(2).innerText()).toMatch(/Message\s+\+44 7400 123456 United Kingdom, 1 segment/);
  const choose = async (label: string, date: Date): Promise<void> => {
    await page.getByLabel(label).fill(date.toISOString().slice(0, 10));
    await page.getByRole("button", { name: "Filter" }).click();
  };
  await page.getByLabel("Type", { exact: true }).selectOption("Top-up");
  await choose("From (UTC)", today);
  await page.getByRole("row", { name: `${day} (UTC) Total +US$5.00` }).waitFor();
  expect(await rows.count()).toBe(3);
  expect(await linesOf(await visitor.exportCsv())).toHaveLength(2);
  await page.goBack();
  await choose("From (UTC)", new Date(today.getTime() + 86_400_000));
  await page.getByText("No entries match").waitFor();
});

it("shows the usage of a month, and exports the statement", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 5 });
  for (const to of ["447700900123", "15005550001"]) await customer.send({ to });
  await vi.waitFor(
    async () => expect((await customer.client.getUsage()).total.refunded).toBe(0.0079),
    patience,
  );
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await page.getByRole("link", { name: "Usage" }).click();
  await visitor.heading("Usage");
  const today = new Date().toISOString().slice(0, 10);
  const { amount } = (await customer.client.getUsage()).total;
  await page.getByRole("row").nth(1).waitFor();
  const day = page.getByRole("slider", { name: "Day" });
  expect(await day.getAttribute("aria-valuetext")).toMatch(/: 1 message, US\$/);
  expect(await day.getAttribute("aria-valuemax")).toBe(String(new Date().getUTCDate()));
  const statement = await visitor.saveAsCsv();
  expect(statement.suggestedFilename()).toBe(`statement-${today.slice(0, 7)}.csv`);
  expect(await linesOf(statement)).toEqual([
    "day,label,messages,segments,amount,refunded,currency,fees",
    `${today},,1,,${amount},0.0079,USD,`,
  ]);
  await page.getByLabel("Group by").selectOption("Country");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("row").filter({ hasText: "United Kingdom" }).getByText("100%").waitFor();
});

it("shows a balance to the cent on one line, and the days of the chart to pointers and keys", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1_000 });
  for (let count = 0; count < 3; count += 1) await customer.send();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  const balance = page.locator(".tile").filter({ hasText: "Balance" }).locator(".number");
  await page.getByText("US$999.97", { exact: true }).waitFor();
  expect(await balance.getAttribute("title")).toBe("US$999.9763");
  const { height = 0 } = (await balance.boundingBox()) ?? {};
  const fontSize = await page.evaluate("getComputedStyle(document.querySelector('.tile .number')).fontSize");
  expect(height).toBeLessThan(2 * Number.parseFloat(String(fontSize)));

  const reading = page.locator(".reading");
  await reading.getByText("3 accepted").waitFor();
  const day = page.getByRole("slider", { name: "Day" });
  await day.focus();
  await page.keyboard.press("ArrowLeft");
  await reading.getByText("0 accepted").waitFor();
  expect(await day.getAttribute("aria-valuetext")).toBe(await reading.innerText());
  const box = await day.boundingBox();
  if (box === null) throw new Error("the chart is not shown");
  await page.mouse.click(box.x + box.width - 3, box.y + box.height / 2);
  await reading.getByText("3 accepted").waitFor();
  await page.getByRole("button", { name: "7 days" }).click();
  expect(await day.getAttribute("aria-valuemax")).toBe("7");
  expect(await visitor.violations()).toEqual([]);
});

it("shows amounts in a currency without decimals, which has no cents to show or to enter", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1_000 });
  await customer.send();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await visitor.replaceInPage('name="currency" content="USD"', 'name="currency" content="JPY"');
  await visitor.open("wallet", "Wallet");
  await page.getByText("JP¥999", { exact: true }).waitFor();
  expect(await page.getByText("JP¥999.9921").count()).toBeGreaterThan(0);
  await page.getByLabel("Daily spending limit (JPY)").waitFor();
  await page.getByRole("button", { name: "Add free funds" }).click();
  await page.getByLabel("Amount (JPY)").waitFor();
  await page.getByText("Use a whole number.").waitFor();
});

it("requests a sender ID, submits KYC, sets a limit, and finds all of it in the audit log", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "sender-ids", "Sender IDs");
  const { page } = visitor;
  await page.getByRole("button", { name: "Request sender ID" }).click();
  await page.getByLabel("Sender ID", { exact: true }).fill("ADASHOP");
  await page.getByRole("button", { name: "Request", exact: true }).click();
  await page.getByText("◷ pending").waitFor();
  await visitor.open("kyc", "Business verification");
  await page.getByLabel("Business name").fill("Ada's shop Ltd");
  await page.getByLabel("Country").selectOption("United Kingdom");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByText("The gateway operator is reviewing your submission.").waitFor();
  await visitor.open("wallet", "Wallet");
  await page.getByLabel("Daily spending limit").fill("much");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Enter an amount such as 25").waitFor();
  await page.getByLabel("Daily spending limit").fill("25");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Limits saved.").waitFor();
  expect((await customer.client.getWallet()).dailySpendCap).toBe(25);
  await visitor.open("audit-log", "Audit log");
  for (const action of ["POST /v1/sender-ids", "POST /v1/kyc", "PATCH /v1/wallet"]) {
    await page.getByText(action).waitFor();
  }
});

it("shows the usage of today by each grouping, with the amount of the overview", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.client.updateWallet({ body: { dailySpendCap: 50 } });
  await customer.send({ to: "447400123456", senderId: "ADASHOP" });
  const { id } = await customer.send({ to: "15005550001" });
  await customer.send();
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("failed"), patience);
  const spent = "US$0.0539";
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await page.locator(".tile", { hasText: "Spent today" }).getByText(spent, { exact: true }).waitFor();
  await page.getByText(`3 messages, ${spent} spent`).waitFor();
  await page.getByText("US$0.0618 of US$50.00 daily limit, before refunds").waitFor();
  await visitor.open("usage?month=today&by=sender", "Usage");
  const shares = {
    country: "United Kingdom",
    campaign: "Without a campaign",
    key: "Console and campaigns",
    sender: "ADASHOP",
  };
  for (const [by, name] of Object.entries(shares)) {
    await page.getByLabel("Group by").selectOption(by);
    await page.getByRole("button", { name: "Filter" }).click();
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByText(by === "country" || by === "sender" ? "85.3%" : "100%").waitFor();
    await page.locator("dd").getByText(spent, { exact: true }).waitFor();
    expect(await page.getByText("Not fully included").count()).toBe(0);
  }
  expect(await faultsOn(page, "usage-today")).toEqual([]);
  expect((await visitor.saveAsCsv()).suggestedFilename()).toMatch(/^statement-\d{4}-\d\d-\d\d\.csv$/);
});
