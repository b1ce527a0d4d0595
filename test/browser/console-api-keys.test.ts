import { execFile } from "node:child_process";
import type { ServerResponse } from "node:http";
import { promisify } from "node:util";

import type { Locator } from "playwright-core";
import { expect } from "vitest";

import { sendSamples } from "../../functions/console/app/snippets.ts";
import { call, Customer, errorOf } from "../support/api.ts";
import { it } from "../support/console.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

it("creates an API key whose sample code sends unchanged", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "api-keys", "API keys");
  const { page } = visitor;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("server");
  await page.getByRole("button", { name: "Create and copy key" }).click();
  const secret = await page.locator(".secret code").innerText();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  expect(await visitor.violations()).toEqual([]);

  // A test of the samples runs each language.
  for (const { label, source } of sendSamples) {
    await page.getByRole("tab", { name: label, exact: true }).click();
    expect(await page.getByRole("tabpanel").locator("pre").innerText(), label).toBe(source);
  }
  await page.getByRole("tab", { name: "curl" }).click();
  const variables = await page.getByRole("region", { name: "Variables" }).innerText();
  const sample = await page.getByRole("tabpanel").locator("pre").innerText();
  const { stdout } = await promisify(execFile)("bash", ["-c", `${variables}\n${sample}`]);
  expect(stdout).toContain("queued");
  expect((await customer.client.listSms()).meta.total).toBe(1);
  const [key] = (await customer.client.listApiKeys()).rows;
  expect(key?.scopes).toEqual(["send", "read"]);

  await visitor.choose("the key server", "Disable");
  await page.getByText("– disabled").waitFor();
  expect(errorOf(await customer.call("/v1/sms", { credential: secret }))).toMatchObject({ status: 401 });
});

it("lists and cancels what a leaked key scheduled, and pauses all sending", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const { secret } = await customer.createApiKey();
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const json = { to: "15005550000", message: "spam", senderId: "BANK", scheduledAt };
  await call("/v1/sms/send", { credential: secret, json });
  for (let count = 1; count <= 11; count += 1) await customer.send({ to: "15005550002", scheduledAt });
  const { id } = await customer.client.createCampaign({
    body: { name: "Spam", message: "spam", audience: { all: true }, senderId: "BANK", scheduledAt },
  });
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await visitor.open("api-keys", "API keys");
  await visitor.choose("the key", "Disable");
  await page.getByRole("link", { name: "Campaign Spam" }).waitFor();
  await page.getByText("and more").waitFor();
  expect(await page.getByRole("link", { name: "Message to" }).count()).toBe(10);
  await visitor.confirm("Disable all keys");
  await page.getByText(/^\d+ keys? disabled/).waitFor();
  expect(await visitor.violations()).toEqual([]);
  const cancel = page.getByRole("button", { name: "Cancel everything scheduled" });
  expect(await cancel.count()).toBe(2);
  await visitor.confirm("Cancel everything scheduled", cancel.last());
  await page.getByText("13 messages and campaigns cancelled.").waitFor();
  await page.getByText("No message is scheduled").waitFor();
  expect((await customer.client.getWallet()).balance).toBe(1);
  expect((await customer.client.getCampaign({ params: { id } })).status).toBe("cancelled");

  await visitor.confirm("Pause sending");
  await page.getByRole("button", { name: "Resume sending" }).waitFor();
  expect(errorOf(await customer.trySend()).code).toBe("SENDING_PAUSED");
  await visitor.open("", "Overview");
  await page.getByRole("link", { name: "Resume sending" }).click();
  await visitor.heading("API keys");
  await visitor.confirm("Resume sending");
  await page.getByRole("button", { name: "Pause sending" }).waitFor();
  expect((await customer.trySend()).status).toBe(202);
});

it("limits a key, and sends or rejects its held messages", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "api-keys", "API keys");
  const { page } = visitor;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Purpose").selectOption("Chosen scopes");
  await page.getByRole("button", { name: "Create and copy key" }).click();
  await page.getByText("Choose what the key may do.").waitFor();
  await page.getByLabel("send: send messages").check();
  await page.getByLabel("Daily budget").fill("five");
  await page.getByLabel("Approve messages above").fill("0");
  await page.getByText("Restrict this key further").click();
  await page.getByLabel("Allowed recipients").fill("1500555");
  await page.getByRole("button", { name: "Create and copy key" }).click();
  await page.getByText("Enter an amount such as 25.").waitFor();
  await page.getByLabel("Daily budget").fill("5");
  await page.getByRole("button", { name: "Create and copy key" }).click();
  const secret = await page.locator(".secret code").innerText();
  const [key] = (await customer.client.listApiKeys()).rows;
  expect(key?.limits).toEqual({ dailyBudget: 5, holdAbove: 0, allowedRecipients: ["1500555"] });
  expect(key?.scopes).toEqual(["send"]);
  await page.getByText("US$0.00 of US$5.00 spent today; approval above US$0.00; only to 1500555").waitFor();
  const held = ["15005550000", "15005550001", "15005550005", "15005550007"];
  for (const to of held) {
    await call("/v1/sms/send", { credential: secret, json: { to, message: "hi", senderId: "ADASHOP" } });
  }
  await visitor.open("", "Overview");
  await page.getByText("4 messages of API keys waiting for approval.").waitFor();
  const menu = page.getByRole("navigation", { name: "Main" });
  await menu.getByRole("link", { name: "Held messages 4" }).click();
  await visitor.heading("Held messages");
  await page
    .getByRole("cell", { name: key?.hint ?? "", exact: true })
    .first()
    .waitFor();
  const row = (to: string): Locator => page.getByRole("row").filter({ hasText: to });
  for (const [to, label] of [
    ["+1 500 555 0000", "Approve"],
    ["+1 500 555 0001", "Reject"],
  ] as const) {
    await row(to).getByRole("button", { name: label }).focus();
    await page.keyboard.press("Enter");
    await row(to)
      .getByText(`${label}${label === "Approve" ? "d" : "ed"}`)
      .waitFor();
    await visitor.focusOn("Held messages");
  }
  expect((await customer.client.listSms()).rows).toMatchObject([{ to: "15005550000" }]);
  await page.getByRole("button", { name: "Approve all" }).click();
  const question = page.getByRole("dialog", { name: "Approve 2 messages?" });
  await question.getByText("They cost US$0.0158").waitFor();
  await question.getByRole("button", { name: "Approve all" }).click();
  await page.getByText("2 messages approved.").waitFor();
  await question.waitFor({ state: "hidden" });
  expect(await page.getByRole("button", { name: /^Approve/ }).count()).toBe(0);
  expect((await customer.client.getWallet()).spentToday).toBe(0.0237);
  await menu.getByRole("link", { name: "Held messages", exact: true }).waitFor();
  expect(await visitor.violations()).toEqual([]);
  await row("+1 500 555 0000").getByRole("link", { name: "Approved" }).click();
  await visitor.heading("Message to +1 500 555 0000");
  expect(await visitor.violations()).toEqual([]);
});

it("changes the limits of a key, for its next message", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const limits = { dailyBudget: 0.01, allowedRecipients: ["44"] };
  const { secret } = await customer.client.createApiKey({ body: { name: "agent", limits } });
  const send = async () =>
    call("/v1/sms/send", {
      credential: secret,
      json: { to: "15005550000", message: "hi", senderId: "ADASHOP" },
    });
  expect(errorOf(await send()).code).toBe("RECIPIENT_NOT_ALLOWED_FOR_KEY");
  const visitor = await arriveAs(customer, "api-keys", "API keys");
  const { page } = visitor;
  await page.getByRole("button", { name: "Actions for the key agent" }).click();
  await page.getByRole("menuitem", { name: "Change limits" }).click();
  await page.getByLabel("Allowed recipients").fill("");
  await page.getByLabel("Daily budget (USD, optional)").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must have at least one limit").waitFor();
  await page.getByLabel("Daily budget").fill("0.02");
  await page.getByLabel("Sends from").fill("00:00");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must be a time such as 08:30").waitFor();
  await page.getByLabel("Sends until").fill("23:59");
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("US$0.00 of US$0.02 spent today; 00:00–23:59 Europe/Berlin").waitFor();
  const [key] = (await customer.client.listApiKeys()).rows;
  const hours = { from: "00:00", to: "23:59", timeZone: "Europe/Berlin" };
  expect(key?.limits).toEqual({ dailyBudget: 0.02, hours });
  await customer.client.updateApiKey({
    params: { id: key?.id ?? "" },
    body: { limits: { dailyBudget: 0.02 } },
  });
  expect((await send()).status).toBe(202);
  await page.reload();
  await page.getByText("US$0.0079 of US$0.02 spent today").waitFor();
});

it("finds out why a webhook fails, sends again, and changes it", async ({ arriveAs }) => {
  // The first delivery fails, and its retry is due after the test. The receiver responds to the second delivery after the
  // page has shown it as pending.
  const second = Promise.withResolvers<ServerResponse>();
  const receiver = await startWebhookReceiver((received) => (response) => {
    if (received === 1) response.writeHead(500, { "Retry-After": "3600" }).end();
    else second.resolve(response);
  });
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "webhooks", "Webhooks");
  const { page } = visitor;
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("Endpoint URL").fill("ftp://127.0.0.1");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.locator(".problem").first().waitFor();
  await page.getByLabel("Endpoint URL").fill(receiver.url);
  await page.getByRole("button", { name: "Add webhook" }).click();
  expect(await page.locator(".secret code").innerText()).toMatch(/^whsec_/);
  await page.getByRole("link", { name: "Test webhook" }).click();
  await visitor.heading("Webhook");
  await page.getByRole("button", { name: "Send test event" }).click();
  const result = page.getByText("Your endpoint responded with 500");
  await result.waitFor();
  // A screen reader announces it as well.
  expect(await page.evaluate("document.activeElement.textContent")).toContain("The test event failed.");
  await page
    .getByRole("cell")
    .filter({ hasText: /500.*1 attempt/ })
    .waitFor();
  await page.getByText("✕ failing").waitFor();
  await page.getByText("Deliveries have failed since").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await visitor.open("webhooks", "Webhooks");
  await page.getByText("✕ failing").waitFor();
  await visitor.open("", "Overview");
  await page.getByText("A webhook is failing:").waitFor();
  await page.getByText(receiver.url).waitFor();
  await page.getByRole("link", { name: "Details" }).click();
  await visitor.heading("Webhook");
  await page.getByRole("button", { name: "Redeliver" }).click();
  await page.getByText("2 attempts").waitFor();
  (await second.promise).writeHead(204).end();
  await page.getByText("✓ succeeded").waitFor();
  await page.getByText("Show", { exact: true }).click();
  await page.getByText('"event": "ping"').waitFor();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("Disabled by you.").waitFor();
  await visitor.confirm("Delete");
  await page.getByText("No webhooks yet").waitFor();
  await receiver.stop();
});
