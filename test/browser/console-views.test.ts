import { beforeAll, vi } from "vitest";

import { Customer, password } from "../support/api.ts";
import { faultsOn, widths } from "../support/browser.ts";
import { it } from "../support/console.ts";
import { joinAs } from "../support/members.ts";
import { patience } from "../support/patience.ts";
import { payByCard, saveCardOf } from "../support/payments.ts";

/*
 * How each view looks in light and dark, on a phone and on a desktop. Findings of axe fail the test, and so do pages that
 * are wider than the screen. `SCREENS=1` also takes screenshots.
 */

/** A name with markup, right-to-left text and a long word. */
const hostileName = `<img src=x onerror="document.title='broken'"> \u202Eשלום مرحبا ${"x".repeat(26)}`;

interface View {
  readonly name: string;
  readonly address: string;
  readonly heading: RegExp | string;
  /** Whether a new customer sees an empty list there. */
  readonly isEmptyAtFirst?: boolean;
}

let customer: Customer;
let newcomer: Customer;
let views: readonly View[];

beforeAll(async () => {
  newcomer = await Customer.register();
  customer = await Customer.register({ balance: 20 });
  const { client } = customer;
  await client.updateWallet({ body: { lowBalanceThreshold: 25, dailySpendCap: 50 } });
  const failing = await customer.send({ to: "15005550001", message: hostileName });
  const sent = await customer.send({ message: "Your code is 123456" });
  for (const to of ["15005550002", "447700900123", "4915112345678"]) await customer.send({ to });
  await customer.send({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() });
  const webhook = await client.createWebhook({ body: { url: "http://127.0.0.1:9/sms-events" } });
  await client.testWebhook({ params: { id: webhook.id } });
  await client.createApiKey({ body: { name: hostileName } });
  const agent = await customer.withApiKey({ limits: { holdAbove: 0 } });
  await agent.send({ message: hostileName });
  const contact = await client.createContact({
    body: {
      phoneNumber: "15005550010",
      firstName: hostileName,
      tags: ["customers"],
      attributes: { city: "x".repeat(200) },
    },
  });
  await client.createContact({
    body: { phoneNumber: "15005550011", firstName: "Grace", tags: ["customers", "London"] },
  });
  await client.createOptOut({ body: { phoneNumber: "15005550012" } });
  const template = await client.createTemplate({
    body: { name: hostileName, body: "Hello {{firstName}}, your code is {{code}}." },
  });
  const draft = await client.createCampaign({
    body: {
      name: hostileName,
      message: "Hello {{firstName}}, the sale begins tomorrow.",
      audience: { tags: ["customers"] },
      senderId: "ADASHOP",
    },
  });
  const launched = await client.createCampaign({
    body: { name: "Autumn sale", message: "Hello", audience: { all: true }, senderId: "ADASHOP" },
  });
  await client.launchCampaign({ params: { id: launched.id } });
  await client.testInbound({ body: { from: "15005550007", to: "12065550100", message: hostileName } });
  await client.createSenderId({ body: { senderId: "ADASHOP", useCase: hostileName } });
  await client.submitKyc({ body: { businessName: hostileName, country: "GB", address: "x".repeat(500) } });
  await client.saveVerificationProfile({ params: { name: "shop" }, body: { brand: "x".repeat(30) } });
  await client.startVerification({ body: { to: "15005550013", senderId: "ADASHOP" } });
  await client.createHook({ body: { kind: "logto" } });
  await joinAs("viewer", customer, hostileName);
  await saveCardOf(customer);
  const paid = await payByCard(customer, 50);
  const unpaid = await client.createPayment({ body: { amount: 20 } });
  const transfer = await client.createPayment({ body: { amount: 500, method: "bank_transfer" } });
  await client.updateBilling({
    // Invoices reject names with a mark of direction.
    body: {
      name: hostileName.replace("\u202E", ""),
      address: ["x".repeat(100)],
      country: "GB",
      vatNumber: "GB123456782",
    },
  });
  await client.updateAutoRecharge({
    body: { isEnabled: true, threshold: 5, amount: 50, monthlyCap: 500 },
  });
  const longEmail = `${"g".repeat(64)}@${`${"x".repeat(60)}.`.repeat(3)}com`;
  await client.inviteMember({ body: { email: longEmail, role: "developer" } });
  await vi.waitFor(async () => {
    const { status } = await customer.message(failing.id);
    const { status: ofCampaign } = await client.getCampaign({ params: { id: launched.id } });
    if (status !== "failed" || ofCampaign !== "completed") throw new Error(`${status}, ${ofCampaign}`);
  }, patience);
  const conversation = await vi.waitFor(async () => {
    const { rows } = await client.listConversations({ query: { test: true } });
    if (rows[0] === undefined) throw new Error("there is no conversation");
    return rows[0].id;
  }, patience);
  await client.replyToConversation({ params: { id: conversation }, body: { message: hostileName } });
  views = [
    { name: "overview", address: "", heading: "Overview" },
    { name: "send", address: "send", heading: "Send a message" },
    { name: "messages", address: "messages", heading: "Messages", isEmptyAtFirst: true },
    { name: "message-sent", address: `messages/${sent.id}`, heading: "Message to +1 500 555 0000" },
    { name: "message-failed", address: `messages/${failing.id}`, heading: "Message to +1 500 555 0001" },
    { name: "contacts", address: "contacts", heading: "Contacts", isEmptyAtFirst: true },
    { name: "contact", address: `contacts/${contact.id}`, heading: /onerror/ },
    { name: "contacts-import", address: "contacts/import", heading: "Import contacts" },
    { name: "held-messages", address: "held-messages", heading: "Held messages" },
    { name: "conversations", address: "conversations", heading: "Conversations", isEmptyAtFirst: true },
    { name: "conversation", address: `conversations/${conversation}`, heading: "+1 500 555 0007" },
    { name: "inbound", address: "inbound", heading: "Inbound messages", isEmptyAtFirst: true },
    { name: "opt-outs", address: "opt-outs", heading: "Opt-outs", isEmptyAtFirst: true },
    { name: "verifications", address: "verifications", heading: "Verifications" },
    { name: "verification-profiles", address: "verification-profiles", heading: "Verification profiles" },
    { name: "hooks", address: "hooks", heading: "Login hooks" },
    { name: "templates", address: "templates", heading: "Templates", isEmptyAtFirst: true },
    { name: "template-new", address: "templates/new", heading: "New template" },
    { name: "template", address: `templates/${template.id}`, heading: /onerror/ },
    { name: "campaigns", address: "campaigns", heading: "Campaigns", isEmptyAtFirst: true },
    { name: "campaign-new", address: "campaigns/new", heading: "New campaign" },
    { name: "campaign-draft", address: `campaigns/${draft.id}`, heading: /onerror/ },
    { name: "campaign-completed", address: `campaigns/${launched.id}`, heading: "Autumn sale" },
    {
      name: "campaign-people",
      address: `campaigns/${launched.id}/people`,
      heading: "People of the campaign",
    },
    { name: "api-keys", address: "api-keys", heading: "API keys", isEmptyAtFirst: true },
    { name: "webhooks", address: "webhooks", heading: "Webhooks", isEmptyAtFirst: true },
    { name: "webhook", address: `webhooks/${webhook.id}`, heading: "Webhook" },
    { name: "wallet", address: "wallet", heading: "Wallet", isEmptyAtFirst: true },
    { name: "usage", address: "usage", heading: "Usage", isEmptyAtFirst: true },
    { name: "payments", address: "payments", heading: "Payments", isEmptyAtFirst: true },
    { name: "payment-paid", address: `payments/${paid.id}?new`, heading: "Payment of US$60.00" },
    { name: "payment-unpaid", address: `payments/${unpaid.id}`, heading: "Payment of US$24.00" },
    { name: "payment-transfer", address: `payments/${transfer.id}`, heading: "Payment of US$600.00" },
    {
      name: "payments-cards",
      address: "payments/cards",
      heading: "Cards and auto-recharge",
      isEmptyAtFirst: true,
    },
    { name: "payments-invoices", address: "payments/invoices", heading: "Invoices", isEmptyAtFirst: true },
    { name: "payments-billing", address: "payments/billing", heading: "Billing details" },
    { name: "prices", address: "prices", heading: "Prices" },
    { name: "sender-ids", address: "sender-ids", heading: "Sender IDs", isEmptyAtFirst: true },
    { name: "kyc", address: "kyc", heading: "Business verification" },
    { name: "members", address: "members", heading: "Members", isEmptyAtFirst: true },
    { name: "audit-log", address: "audit-log", heading: "Audit log" },
    { name: "security", address: "security", heading: "Security" },
    { name: "not-found", address: "nowhere", heading: "Page not found" },
  ];
});

it.concurrent("all views look well", { timeout: 800_000 }, async ({ arrive, expect }) => {
  const visitor = await arrive();
  const { page } = visitor;
  const found = await faultsOn(page, "login");
  for (const [link, heading, name] of [
    ["Sign up", "Sign up", "sign-up"],
    ["Log in", "Log in", undefined],
    ["Forgot your password?", "Reset your password", "forgot-password"],
    ["Log in", "Log in", undefined],
  ] as const) {
    await page.getByRole("link", { name: link }).click();
    await visitor.heading(heading);
    if (name !== undefined) found.push(...(await faultsOn(page, name)));
  }
  await visitor.login(customer.email);
  for (const { name, address, heading } of views) {
    await visitor.open(address, heading);
    found.push(...(await faultsOn(page, name)));
  }
  expect(found).toEqual([]);
});

it.concurrent("all dialogs and menus look well", { timeout: 800_000 }, async ({ arriveAs, expect }) => {
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  const found: string[] = [];
  for (const [address, heading, button] of [
    ["api-keys", "API keys", "New key"],
    ["webhooks", "Webhooks", "New webhook"],
    ["members", "Members", "Invite member"],
    ["wallet", "Wallet", "Add free funds"],
    ["payments", "Payments", "Add funds"],
  ] as const) {
    await visitor.open(address, heading);
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("dialog").waitFor();
    await visitor.settle();
    found.push(...(await faultsOn(page, `${address}-new`)));
    await page.keyboard.press("Escape");
  }
  await visitor.open("api-keys", "API keys");
  for (const width of widths) {
    // The menu has its place from the width in which it opens.
    await page.setViewportSize({ width, height: 900 });
    await page
      .getByRole("button", { name: /Actions for the key/ })
      .first()
      .click();
    await page.getByRole("menu").waitFor();
    found.push(...(await faultsOn(page, "api-keys-menu", [width])));
    await page.keyboard.press("Escape");
  }
  await visitor.open("security", "Security");
  await page.getByLabel("Confirm your password").fill(password);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByLabel("Authentication code").waitFor();
  found.push(...(await faultsOn(page, "security-set-up")));
  expect(found).toEqual([]);
});

it.concurrent("empty lists say what to do next", { timeout: 800_000 }, async ({ arriveAs, expect }) => {
  const visitor = await arriveAs(newcomer);
  const found: string[] = [];
  for (const { name, address, heading } of views.filter(({ isEmptyAtFirst }) => isEmptyAtFirst)) {
    await visitor.open(address, heading);
    await visitor.page.locator(".empty").waitFor();
    found.push(...(await faultsOn(visitor.page, `${name}-empty`)));
  }
  expect(found).toEqual([]);
});
