import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import type { Browser, Download, Locator, Route } from "playwright-core";
import { decodeQR } from "qr/decode.js";
import { afterAll, afterEach, beforeAll, expect, inject, it, vi } from "vitest";
import * as z from "zod/mini";

import { sendSamples } from "../../functions/console/app/snippets.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { PageMeta } from "../../shared/api/contract/primitives.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { call, Customer, errorOf, password } from "../support/api.ts";
import { launchBrowser } from "../support/browser.ts";
import { ConsoleVisitor } from "../support/console.ts";
import { installedLanguages, installPackages } from "../support/installed-packages.ts";
import { joinAs } from "../support/members.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => browser.close());

/** The person at the console. Leaving fails the test if the page had an error. */
let visitor: ConsoleVisitor;
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await visitor.page.screenshot({ path: ".build/screens/failed.png" });
  await visitor.leave();
});

it("a new customer opens the gateway's address, signs up, tops up, sends, and sees the message delivered", async () => {
  visitor = await ConsoleVisitor.arrive(browser);
  const { page } = visitor;
  const beganAtMs = performance.now();
  await page.goto(`${inject("baseUrl")}/`);
  await page.getByRole("link", { name: "Create an account" }).click();
  await visitor.heading("Sign up");
  await page.getByLabel("Email").fill(`${randomUUID()}@example.com`);
  await page.getByLabel("Password").fill(password);
  await page.getByLabel("Organization").fill("Ada's shop");
  await page.getByRole("button", { name: "Sign up" }).click();
  await visitor.heading("Overview");
  await page.getByRole("link", { name: "Top up" }).click();
  await visitor.heading("Wallet");
  await page.getByRole("button", { name: "Top up" }).click();
  await page.getByLabel("Amount (USD)").fill("5,50");
  await page.getByRole("dialog").getByRole("button", { name: "Top up" }).click();
  await page.getByText("Your balance is now US$5.50.").waitFor();

  await page.getByRole("link", { name: "Send", exact: true }).click();
  await visitor.heading("Send a message");
  await page.getByLabel("To", { exact: true }).fill("+1 (500) 555-0007");
  await page.getByLabel("From").fill("ADASHOP");
  await page.getByLabel("Message").fill("Your code is 123456");
  await page.getByText("US$0.0079 (1 × US$0.0079)").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("✓ sent").waitFor();

  await page.getByRole("link", { name: "Messages", exact: true }).click();
  await visitor.heading("Messages");
  await page.getByRole("link", { name: "15005550007" }).click();
  await visitor.heading("Message to 15005550007");
  await page.getByText("Submitted to the carrier").waitFor();
  await page.getByText("✓ delivered").waitFor();
  const tookSeconds = ((performance.now() - beganAtMs) / 1_000).toFixed(1);
  process.stdout.write(
    `From the address to the message that was delivered, the clicking took ${tookSeconds} s.\n`,
  );
  const elsewhere = visitor.watched.requested.filter((each) => !each.includes(` ${inject("baseUrl")}/`));
  expect(elsewhere).toEqual([]);
});

it("shows the first view with at most 120 kB of compressed files", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await page.reload();
  await visitor.heading("Overview");
  await visitor.settle();
  const sizes = z
    .array(z.tuple([z.string(), z.number()]))
    .parse(
      await page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]" +
          ".map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])",
      ),
    )
    .filter(([file]) => file.startsWith("/console"));
  expect(sizes.map(([file]) => path.extname(file))).toEqual(expect.arrayContaining(["", ".css", ".js"]));
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  process.stdout.write(`The first view of the console takes ${total} bytes in ${sizes.length} files.\n`);
  expect(total).toBeGreaterThan(20_000);
  expect(total).toBeLessThanOrEqual(120_000);
});

it("moves the focus to an invalid field, shows its error once, and keeps the input", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("send", "Send a message");
  const message = page.getByLabel("Message");
  await page.getByLabel("To", { exact: true }).fill("hello");
  await page.getByLabel("From").fill("ACME");
  await message.fill("é".repeat(10_000));
  await page.getByText("10,000 characters, GSM-7, 66 segments").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("must be at most 1600 characters long").waitFor();
  await page.getByText("Enter a phone number with its country code").waitFor();
  await page.getByText("Correct the highlighted fields above.").waitFor();
  expect(await page.getByText("The request is not valid").count()).toBe(0);
  const to = page.getByLabel("To", { exact: true });
  await vi.waitFor(
    async () => expect(await page.evaluate("document.activeElement.name")).toBe("to"),
    patience,
  );
  expect(await to.getAttribute("aria-invalid")).toBe("true");
  expect(await message.inputValue()).toHaveLength(10_000);
});

it("keeps the input while the network is down, and sends once although a response is lost", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page, context } = visitor;
  await visitor.open("send", "Send a message");
  const send = page.getByRole("button", { name: "Send", exact: true });
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await page.getByLabel("Message").fill("hello");
  await page.getByText("US$0.0079 (").waitFor();
  await context.setOffline(true);
  await send.click();
  await page.getByText("The gateway could not be reached.").waitFor();
  await context.setOffline(false);

  // The gateway processes this request, and its response is lost.
  const loseResponse = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route("**/v1/sms/send", loseResponse, { times: 1 });
  await send.click();
  await vi.waitFor(async () => expect((await customer.client.listSms()).meta.total).toBe(1), patience);
  await page.getByText("The gateway could not be reached.").waitFor();
  expect(await page.getByLabel("Message").inputValue()).toBe("hello");
  await send.click();
  await page.getByText("Just sent").waitFor();
  expect((await customer.client.listSms()).meta.total).toBe(1);
});

it("warns before the session ends, and continues after a new login with the same input", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arrive(browser);
  const { page } = visitor;
  await page.clock.install();
  await page.reload();
  await visitor.heading("Log in");
  await visitor.login(customer.email);
  await visitor.open("send", "Send a message");
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await page.getByLabel("Message").fill("typed before");
  const warning = page.getByText("Your session ends in less than two minutes.");
  await page.clock.fastForward("57:00");
  expect(await warning.count()).toBe(0);
  await page.clock.fastForward("01:30");
  await warning.waitFor();
  await page.getByRole("button", { name: "Stay logged in" }).click();
  expect(await visitor.violations()).toEqual([]);
  await page.getByLabel("Password").fill(`not ${password}`);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The email or the password is wrong.").waitFor();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await warning.count()).toBe(0);

  // The new session is ended elsewhere. The next send waits for a new login and is then repeated.
  await customer.client.logoutEverywhere();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Just sent").waitFor();
});

it("clears everything at logout, and ends the session at the gateway", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  const Stored = z.object({ token: z.string() });
  const { token } = Stored.parse(JSON.parse(z.string().parse(await page.evaluate("sessionStorage.session"))));
  await visitor.open("wallet", "Wallet");
  await page.getByRole("button", { name: "Log out" }).click();
  await visitor.heading("Log in");
  expect(await page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")).toEqual([
    0,
    0,
    "",
  ]);
  expect(errorOf(await customer.call("/v1/auth/me", { credential: token }))).toMatchObject({ status: 401 });
  await page.goBack();
  await visitor.heading("Log in");
});

it("imports 10,000 contacts from a spreadsheet, and explains each row that was not imported", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("contacts/import", "Import contacts");
  const good = Array.from(
    { length: 10_000 },
    (_, index) => `"+1 500 ${1_000_000 + index}";Grace;"gold; ${index % 3}";Łódź`,
  );
  const bad = ["12;Too short;;", `+1 500 1000000;Again;;`, `not a number;<img src=x onerror=alert(1)>;;`];
  const csv = ["Phone number;First name;Groups;City of birth", ...good, ...bad].join("\r\n");
  const choose = async (text: string): Promise<void> =>
    page
      .getByLabel("CSV file")
      .setInputFiles({ name: "contacts.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await choose('Phone number\n"15005550000');
  await page.getByText("a quoted value is not closed").waitFor();
  await choose(`\uFEFF${csv}`);
  await page.getByText("10,001 of 10,003 rows can be imported.").waitFor();
  await page.getByText("City: Łódź").or(page.getByText("City_of_birth: Łódź")).first().waitFor();
  await page.getByLabel("Tags for all contacts").fill("newsletter");
  await page.getByRole("button", { name: "Import 10,001 contacts" }).click();
  await page.getByText("10,000 contacts imported.", { exact: true }).first().waitFor({ timeout: 100_000 });
  await page.getByText("a contact with this number already exists").waitFor();
  expect(await visitor.violations()).toEqual([]);
  const { rows, meta } = await customer.client.listContacts({ query: { limit: 1 } });
  expect(meta.total).toBe(10_000);
  expect(rows[0]).toMatchObject({ firstName: "Grace", attributes: { City_of_birth: "Łódź" } });
  expect(rows[0]?.tags).toEqual(expect.arrayContaining(["gold", "newsletter"]));
});

/** The text of a downloaded file. */
async function savedText(download: Download): Promise<string> {
  return readFile(await download.path(), "utf8");
}

it("exports the whole ledger", async () => {
  const customer = await Customer.register({ balance: 5 });
  const { id } = await customer.send();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("wallet", "Wallet");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const lines = (await savedText(await saved)).trim().split("\r\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe(
    "createdAt,id,type,amount,balanceAfter,currency,messageId,to,country,segments,campaignId,paymentId,reason,reference",
  );
  expect(lines[1]).toContain(`message,-0.0079,4.9921,USD,${id},15005550000,US,1,,,,`);
  expect(lines[2]).toContain("top_up,5,5,USD,,");
});

it("groups the ledger by day with its sum, and filters it by type and day", async () => {
  const customer = await Customer.register({ balance: 5 });
  const { pricing } = await customer.send({ to: "447400123456" });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("wallet", "Wallet");
  const rows = page.getByRole("table", { name: "Ledger" }).getByRole("row");
  const today = new Date();
  const day = today.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const sum = `Total +US$${String(5 - pricing.total)}`;
  expect((await rows.nth(1).innerText()).split(/\s*\n\s*/)).toEqual([`${day} (UTC)`, sum]);
  expect(await rows.nth(2).innerText()).toMatch(/Message\s+447400123456 United Kingdom, 1 segment/);
  const choose = async (label: string, date: Date): Promise<void> => {
    await page.getByLabel(label).fill(date.toISOString().slice(0, 10));
    await page.getByRole("button", { name: "Filter" }).click();
  };
  await page.getByLabel("Type", { exact: true }).selectOption("Top-up");
  await choose("From (UTC)", today);
  await page.getByRole("row", { name: `${day} (UTC) Total +US$5.00` }).waitFor();
  expect(await rows.count()).toBe(3);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  expect((await savedText(await saved)).trim().split("\r\n")).toHaveLength(2);
  await choose("From (UTC)", new Date(today.getTime() + 86_400_000));
  await page.getByText("No entries match").waitFor();
});

it("shows the usage of a month, and exports the statement", async () => {
  const customer = await Customer.register({ balance: 5 });
  for (const to of ["447700900123", "15005550001"]) await customer.send({ to });
  await vi.waitFor(
    async () => expect((await customer.client.getUsage()).total.refunded).toBe(0.0079),
    patience,
  );
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await page.getByRole("link", { name: "Usage" }).click();
  await visitor.heading("Usage");
  const today = new Date().toISOString().slice(0, 10);
  const { amount } = (await customer.client.getUsage()).total;
  const saved = page.waitForEvent("download");
  await page.getByRole("row").nth(1).waitFor();
  await page.getByRole("button", { name: "Export CSV" }).click();
  expect((await saved).suggestedFilename()).toBe(`statement-${today.slice(0, 7)}.csv`);
  expect((await savedText(await saved)).trim().split("\r\n")).toEqual([
    "day,label,messages,segments,amount,refunded,currency",
    `${today},,1,,${amount},0.0079,USD`,
  ]);
  await page.getByLabel("Group by").selectOption("Country");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("Not included:").waitFor();
  await page.getByText("No messages", { exact: true }).waitFor();
});

it("creates an API key whose sample code sends unchanged", { timeout: 200_000 }, async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("api-keys", "API keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("server");
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = await page.locator(".secret code").innerText();
  await page.getByRole("button", { name: "Copy secret" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  expect(await visitor.violations()).toEqual([]);

  const folder = await mkdtemp(path.join(tmpdir(), "samples-"));
  const { nodeFolder, python = "python3" } = await installPackages(inject("baseUrl"), folder);
  const commands = {
    curl: `bash ${folder}/send.sh`,
    typescript: `${process.execPath} ${nodeFolder}/send.mts`,
    python: `${python} ${folder}/send.py`,
    php: `php ${folder}/send.php`,
    go: `go run ${folder}/send.go`,
    java: `java ${folder}/send.java`,
  } as const;
  const languages = installedLanguages(["curl", "typescript", "python", "php", "go", "java"]);
  const variables = await page.getByRole("region", { name: "Variables" }).innerText();
  for (const language of languages) {
    const { label = "" } = sendSamples.find(({ lang }) => lang === language) ?? {};
    await page.getByRole("tab", { name: label }).click();
    const command = commands[language];
    await writeFile(
      command.slice(command.lastIndexOf(" ") + 1),
      await page.getByRole("tabpanel").locator("pre").innerText(),
    );
    const { stdout } = await promisify(execFile)("bash", ["-c", `${variables}\n${command}`]);
    expect(stdout, language).toContain("queued");
  }
  await rm(folder, { recursive: true });
  expect(languages).toContain("typescript");
  expect((await customer.client.listSms()).meta.total).toBe(languages.length);

  await page.getByRole("button", { name: "Actions for the key server" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("– disabled").waitFor();
  expect(errorOf(await customer.call("/v1/sms", { credential: secret }))).toMatchObject({ status: 401 });
});

it("finds out why a webhook fails, sends again, and changes it", async () => {
  // The first delivery fails, and its retry is due after the test. The receiver responds to the second delivery after the
  // page has shown it as pending.
  const second = Promise.withResolvers<ServerResponse>();
  const receiver = await startWebhookReceiver((received) => (response) => {
    if (received === 1) response.writeHead(500, { "Retry-After": "3600" }).end();
    else second.resolve(response);
  });
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("webhooks", "Webhooks");
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
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
  await receiver.stop();
});

it("creates a campaign, estimates its audience and cost, launches it and sees it completed", async () => {
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
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("campaigns/new", "New campaign");
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
  await page.getByRole("button", { name: "Launch" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Launch" }).click();
  await page.getByText("✓ completed").waitFor();
  // The gateway's result matches the estimate.
  const [campaign] = (await customer.client.listCampaigns()).rows;
  expect(campaign?.progress).toMatchObject({
    accepted: 2,
    charged: 0.0539,
    skipped: { optedOut: 1, unrenderable: 1 },
  });
});

it("shows a minimum for a campaign with more contacts than it has read", async () => {
  const customer = await Customer.register({ balance: 1 });
  await customer.client.createContact({ body: { phoneNumber: "15005550010" } });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
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

it("creates a template with a preview, and sends it with values", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("templates/new", "New template");
  await page.getByLabel("Name").fill("code");
  await page.getByLabel("Text").fill("Your code is {{code");
  await page.getByText("has a placeholder that is not closed").waitFor();
  await page.getByLabel("Text").fill("Your code is {{code}}");
  await page.getByText("Your code is ‹code›").waitFor();
  await page.getByRole("button", { name: "Create template" }).click();
  await visitor.heading("Template code");
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await page.getByLabel("{{code}}").fill("123456");
  await page.getByText("Your code is 123456").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "message to 15005550000" }).waitFor();
  expect((await customer.client.listSms()).rows[0]?.message).toBe("Your code is 123456");
});

it("finds messages by number and status, and cancels a scheduled one", async () => {
  const customer = await Customer.register({ balance: 1 });
  await customer.send({ to: "15005550007" });
  await customer.send({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("messages", "Messages");
  await page.getByLabel("Phone number").fill("+1 500 555 0007");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "15005550000" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "15005550007" }).waitFor();
  await page.locator("button:focus", { hasText: "Filter" }).waitFor();
  await visitor.open("messages", "Messages");
  await vi.waitFor(async () => expect(await page.getByLabel("Phone number").inputValue()).toBe(""), patience);
  await page.getByLabel("Status").selectOption("queued");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "15005550000" }).click();
  await visitor.heading("Message to 15005550000");
  await page.getByRole("button", { name: "Cancel message" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel message" }).click();
  await page.getByText("– cancelled").waitFor();
  expect(await customer.balance()).toBe(0.9921);
});

it("adds, changes and deletes a contact, and adds and removes an opt-out", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("contacts", "Contacts");
  await page.getByRole("button", { name: "Add contact" }).first().click();
  await page.getByLabel("Phone number").fill("+1 500 555 0010");
  await page.getByLabel("Tags").fill("customers, London");
  await page.getByLabel("Attributes").fill("city: London");
  await page.getByRole("dialog").getByRole("button", { name: "Add contact" }).click();
  await page.getByRole("link", { name: "15005550010" }).click();
  await visitor.heading("15005550010");
  await page.getByLabel("First name").fill("Grace");
  await page.getByRole("button", { name: "Save" }).click();
  await visitor.heading("Grace");
  const [contact] = (await customer.client.listContacts()).rows;
  expect(contact).toMatchObject({
    firstName: "Grace",
    tags: ["customers", "London"],
    attributes: { city: "London" },
  });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No contacts yet").waitFor();
  await page.getByRole("link", { name: "Opt-outs" }).click();
  await visitor.heading("Opt-outs");
  await page.getByRole("button", { name: "Add opt-out" }).click();
  await page.getByLabel("Phone number").fill("+1 500 555 0012");
  await page.getByRole("button", { name: "Opt out", exact: true }).click();
  await page.getByText("Added by you").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No opt-outs yet").waitFor();
});

it("requests a sender ID, submits KYC, sets a limit, and finds all of it in the audit log", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("sender-ids", "Sender IDs");
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

it("changes the password, sets up a second factor, and logs in with both", async () => {
  const customer = await Customer.register();
  const newPassword = `${password} staple`;
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("security", "Security");
  await page.getByLabel("Current password").fill(password);
  await page.getByLabel("New password").fill(newPassword);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await page.getByLabel("Confirm your password").fill(newPassword);
  await page.getByRole("button", { name: "Enable" }).click();
  const secret = await page.locator(".secret code").innerText();
  const code = page.getByRole("img", { name: "QR code of the secret" });
  const { searchParams, hostname } = new URL(decodeQR(await visitor.pixelsOf(code)));
  expect([hostname, searchParams.get("secret")]).toEqual(["totp", secret]);
  expect(await visitor.violations()).toEqual([]);
  await page.getByLabel("Authentication code").fill(totpCode(secret, totpStepAt(new Date())));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("Save these recovery codes.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  const recoveryCodes = (await page.getByLabel("Recovery codes").innerText()).trim().split("\n");
  const [recoveryCode = "", another = ""] = recoveryCodes;
  await page.getByLabel("Current password").fill(newPassword);
  await page.getByLabel("New password").fill(password);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByLabel("Code", { exact: true }).fill(another);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await visitor.heading("Log in");
  await page.getByLabel("Email").fill(customer.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByLabel("Code").fill(recoveryCode);
  await page.getByRole("button", { name: "Log in" }).click();
  await visitor.heading("Overview");
});

it("invites a member, changes the role, and removes the member", async () => {
  const customer = await Customer.register();
  await noteVerifiedEmail(customer.organizationId);
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("members", "Members");
  await page.getByText("Only owner", { exact: true }).waitFor();
  const invite = async (email: string): Promise<void> => {
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send invitation" }).click();
  };
  await page.getByRole("button", { name: "Invite member" }).click();
  await invite("no email");
  await page.getByText("must be an email address").waitFor();
  await invite(customer.email);
  await page.getByText("This email already belongs to a member.").waitFor();
  const guest = `${randomUUID()}@example.com`;
  await page.getByLabel("Role").selectOption("viewer");
  await invite(guest);
  const invited = page.getByRole("row").filter({ hasText: guest });
  await invited.getByText("◷ invited").waitFor();
  const ofInvitation = invited.getByRole("button", { name: `Actions for the invitation to ${guest}` });
  await ofInvitation.click();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("menuitem", { name: "Resend invitation" }).click();
  await page.getByText("Invitation sent again.").waitFor();
  await ofInvitation.click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No pending invitations").waitFor();

  const { email } = await joinAs("viewer", customer);
  await page.reload();
  const member = page.getByRole("row").filter({ hasText: email });
  const ofMember = member.getByRole("button", { name: `Actions for ${email}` });
  await ofMember.click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await page.getByRole("dialog").getByLabel("Role").selectOption("admin");
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await member.getByRole("cell", { name: "Admin", exact: true }).waitFor();
  await ofMember.click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await member.waitFor({ state: "detached" });
  expect((await customer.client.listMembers()).rows.map((each) => each.email)).toEqual([customer.email]);
});

it("offers members only the actions of their role, and lets an admin leave", async () => {
  const customer = await Customer.register();
  const viewer = await joinAs("viewer", customer);
  visitor = await ConsoleVisitor.arriveAs(browser, viewer);
  await visitor.open("members", "Members");
  await visitor.page.getByText("Only owners and admins can invite, change and remove members.").waitFor();
  const offered = visitor.page.locator("main").getByRole("button");
  expect(await offered.count()).toBe(0);
  await visitor.leave();

  visitor = await ConsoleVisitor.arriveAs(browser, await joinAs("admin", customer));
  const { page } = visitor;
  await visitor.open("members", "Members");
  await page.getByRole("button", { name: "Invite member" }).click();
  const roles = await page.getByLabel("Role").getByRole("option").allInnerTexts();
  expect(roles).toEqual(["Admin", "Billing", "Developer", "Viewer"]);
  await page.keyboard.press("Escape");
  const owner = page.getByRole("row").filter({ hasText: customer.email });
  expect(await owner.getByRole("button").count()).toBe(0);
  await page.getByRole("button", { name: `Actions for ${viewer.email}` }).click();
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Change role", "Remove"]);
  await page.keyboard.press("Escape");
  await page.getByRole("row").filter({ hasText: "you" }).getByRole("button").click();
  await page.getByRole("menuitem", { name: "Leave" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await visitor.heading("Log in");
  const { rows } = await customer.client.listMembers();
  expect(rows.map(({ email }) => email)).toEqual([customer.email, viewer.email]);
});

it("sends a password reset link", async () => {
  visitor = await ConsoleVisitor.arrive(browser);
  const { page } = visitor;
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await visitor.heading("Reset your password");
  await page.getByLabel("Email").fill("no email");
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("must be an email address").waitFor();
  await page.getByLabel("Email").fill(`${randomUUID()}@example.com`);
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("you will receive an email with a link").waitFor();
  expect(await visitor.violations()).toEqual([]);
});

it("shows no documentation, sandbox or top-up on a stage without them", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  const link = page.getByRole("link", { name: "Documentation" });
  expect(await link.getAttribute("href")).toBe(`${inject("baseUrl")}/docs`);
  await visitor.open("send", "Send a message");
  const hint = page.getByText("15005550007");
  expect(await hint.count()).toBe(1);
  await page.route("**/console", async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace("docs payments sandbox top-up", "");
    await route.fulfill({ response, body: text });
  });
  await page.reload();
  await visitor.heading("Send a message");
  expect([await link.count(), await hint.count()]).toEqual([0, 0]);
  await visitor.open("wallet", "Wallet");
  await page.getByText("The gateway operator adds funds to your wallet").waitFor();
  expect(await page.getByRole("button", { name: "Top up" }).count()).toBe(0);
  await page.getByRole("button", { name: "Log out" }).click();
  await visitor.heading("Log in");
  expect(await link.count()).toBe(0);
});

it("can be used with the keyboard alone", async () => {
  const customer = await Customer.register({ balance: 1 });
  await customer.createApiKey();
  visitor = await ConsoleVisitor.arrive(browser);
  const { page } = visitor;
  const focused = async (): Promise<unknown> => page.evaluate("document.activeElement.textContent");
  await page.keyboard.type(customer.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await visitor.heading("Overview");
  await visitor.settle();
  // The focus of a new view is its heading. The skip link is the first element of the page.
  expect(await focused()).toBe("Overview");
  await page.locator(".skip").focus();
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("SMS gateway");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("Overview");
  await visitor.open("api-keys", "API keys");
  await page.getByRole("button", { name: "Disable all keys" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await focused()).toBe("Disable all keys");
  // The deleted key takes its button with it, and the focus moves to the heading.
  await page.getByRole("button", { name: "Actions for the key" }).focus();
  await page.keyboard.press("Enter");
  await vi.waitFor(async () => expect(await focused()).toBe("Rotate"), patience);
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.getAttribute('aria-haspopup')")).toBe("menu");
  await page.keyboard.press("Enter");
  await vi.waitFor(async () => expect(await focused()).toBe("Rotate"), patience);
  await page.keyboard.press("ArrowUp");
  expect(await focused()).toBe("Delete");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("No API keys yet").waitFor();
  await vi.waitFor(async () => expect(await focused()).toBe("API keys"), patience);
});

it("lists and cancels what a leaked key scheduled, and pauses all sending", async () => {
  const customer = await Customer.register({ balance: 1 });
  const { secret } = await customer.createApiKey();
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const json = { to: "15005550000", message: "spam", senderId: "BANK", scheduledAt };
  await call("/v1/sms/send", { credential: secret, json });
  for (let count = 1; count <= 11; count += 1) await customer.send({ to: "15005550002", scheduledAt });
  const { id } = await customer.client.createCampaign({
    body: { name: "Spam", message: "spam", audience: { all: true }, senderId: "BANK", scheduledAt },
  });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  const choose = async (name: string): Promise<void> => {
    await page.getByRole("button", { name, exact: true }).first().click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  };
  await visitor.open("api-keys", "API keys");
  await page.getByRole("button", { name: "Actions for the key" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByRole("link", { name: "Campaign Spam" }).waitFor();
  await page.getByText("and more").waitFor();
  expect(await page.getByRole("link", { name: "Message to" }).count()).toBe(10);
  await choose("Disable all keys");
  await page.getByText(/^\d+ keys? disabled/).waitFor();
  expect(await visitor.violations()).toEqual([]);
  await visitor.screenshot("still-scheduled", { colorScheme: "light", width: 1_280 });
  await choose("Cancel everything scheduled");
  await page.getByText("13 messages and campaigns cancelled.").waitFor();
  await page.getByText("No message is scheduled").waitFor();
  expect((await customer.client.getWallet()).balance).toBe(1);
  expect((await customer.client.getCampaign({ params: { id } })).status).toBe("cancelled");

  await choose("Pause sending");
  await page.getByRole("button", { name: "Resume sending" }).waitFor();
  expect(errorOf(await customer.trySend()).code).toBe("SENDING_PAUSED");
  await visitor.open("", "Overview");
  await visitor.screenshot("overview-paused", { colorScheme: "light", width: 1_280 });
  await page.getByRole("link", { name: "Resume sending" }).click();
  await visitor.heading("API keys");
  await choose("Resume sending");
  await page.getByRole("button", { name: "Pause sending" }).waitFor();
  expect((await customer.trySend()).status).toBe(202);
});

it("limits a key, and sends or rejects its held messages", async () => {
  const customer = await Customer.register({ balance: 1 });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("api-keys", "API keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByText("Restrict this key").click();
  await page.getByLabel("Daily budget").fill("five");
  await page.getByLabel("Approve messages above").fill("0");
  await page.getByLabel("Allowed recipients").fill("1500555");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Enter an amount such as 25.").waitFor();
  await page.getByLabel("Daily budget").fill("5");
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = await page.locator(".secret code").innerText();
  const [key] = (await customer.client.listApiKeys()).rows;
  expect(key?.limits).toEqual({ dailyBudget: 5, holdAbove: 0, allowedRecipients: ["1500555"] });
  for (const to of ["15005550000", "15005550001"]) {
    await call("/v1/sms/send", { credential: secret, json: { to, message: "hi", senderId: "ADASHOP" } });
  }
  await visitor.open("held-messages", "Held messages");
  const row = (to: string): Locator => page.getByRole("row").filter({ hasText: to });
  for (const [to, label] of [
    ["15005550000", "Approve"],
    ["15005550001", "Reject"],
  ] as const) {
    await row(to).getByRole("button", { name: label }).click();
    await page.getByRole("dialog").getByRole("button", { name: label }).click();
    await row(to)
      .getByText(`${label}${label === "Approve" ? "d" : "ed"}`)
      .waitFor();
  }
  expect((await customer.client.listSms()).rows).toMatchObject([{ to: "15005550000" }]);
  await row("15005550000").getByRole("link", { name: "Approved" }).click();
  await visitor.heading("Message to 15005550000");
  expect(await visitor.violations()).toEqual([]);
});

it("keeps drafts of a message and a campaign across views, and clears them with the session", async () => {
  const customer = await Customer.register();
  await customer.client.createContact({ body: { phoneNumber: "15005550010", tags: ["customers"] } });
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("send", "Send a message");
  const [to, message] = [page.getByLabel("To", { exact: true }), page.getByLabel("Message")];
  await to.fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await message.fill("Your table is ready");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("The wallet balance does not cover this message.").waitFor();
  // The link that the console shows, and back.
  await page
    .getByRole("alert")
    .filter({ hasText: "does not cover" })
    .getByRole("link", { name: "Top up" })
    .click();
  await visitor.heading("Wallet");
  await page.getByRole("button", { name: "Top up" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Top up" }).click();
  await page.getByText("Your balance is now US$10.00.").waitFor();
  await page.goBack();
  await visitor.heading("Send a message");
  expect([await to.inputValue(), await message.inputValue()]).toEqual(["15005550000", "Your table is ready"]);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("✓ sent").waitFor();
  await visitor.open("messages", "Messages");
  await visitor.open("send", "Send a message");
  expect([await to.inputValue(), await message.inputValue()]).toEqual(["", ""]);

  await visitor.open("campaigns/new", "New campaign");
  await page.getByLabel("Name").fill("Autumn sale");
  await page.getByLabel("customers (1)").check();
  await visitor.open("contacts", "Contacts");
  await visitor.open("campaigns/new", "New campaign");
  expect(await page.getByLabel("Name").inputValue()).toBe("Autumn sale");
  expect(await page.getByLabel("customers (1)").isChecked()).toBe(true);
  await page.reload();
  await visitor.heading("New campaign");
  expect(await page.getByLabel("Name").inputValue()).toBe("Autumn sale");
  await page.getByRole("button", { name: "Start over" }).click();
  expect(await page.getByLabel("Name").inputValue()).toBe("");

  await page.getByLabel("Name").fill("Winter sale");
  await page.getByRole("button", { name: "Log out" }).click();
  await visitor.heading("Log in");
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await visitor.login(customer.email);
  await visitor.open("campaigns/new", "New campaign");
  expect(await page.getByLabel("Name").inputValue()).toBe("");
});

it("keeps the focus while a message is sent, and moves it to the result", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  const focused = async (): Promise<unknown> => page.evaluate("document.activeElement.textContent");
  await visitor.open("send", "Send a message");
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("Message").fill("hello");
  const send = page.getByRole("button", { name: "Send", exact: true });
  await send.focus();
  await page.keyboard.press("Enter");
  // The field explains that the sender ID is missing.
  await page.getByText("Enter a sender ID.").waitFor();
  await vi.waitFor(
    async () => expect(await page.evaluate("document.activeElement.name")).toBe("senderId"),
    patience,
  );
  await page.keyboard.type("ACME");
  await page.keyboard.press("Enter");
  await vi.waitFor(async () => expect(await focused()).toContain("does not cover this message"), patience);
  await customer.client.topUpWallet({ body: { amount: 1 } });
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/sms/send", async (route) => {
    await held.promise;
    await route.continue();
  });
  await send.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Please wait…" }).waitFor();
  expect(await focused()).toBe("Please wait…");
  held.resolve();
  await vi.waitFor(async () => expect(await focused()).toBe("+15005550000"), patience);
});

it("shows a balance to the cent on one line, and the days of the chart to pointers and keys", async () => {
  const customer = await Customer.register({ balance: 1_000 });
  for (let count = 0; count < 3; count += 1) await customer.send();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
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

it("shows amounts in a currency without decimals, which has no cents to show or to enter", async () => {
  const customer = await Customer.register({ balance: 1_000 });
  await customer.send();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await page.route("**/console", async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    expect(body).toContain('name="currency" content="USD"');
    await route.fulfill({ response, body: body.replace('content="USD"', 'content="JPY"') });
  });
  await page.reload();
  await visitor.open("wallet", "Wallet");
  await page.getByText("JP¥999", { exact: true }).waitFor();
  expect(await page.getByText("JP¥999.9921").count()).toBeGreaterThan(0);
  await page.getByLabel("Daily spending limit (JPY)").waitFor();
  await page.getByRole("button", { name: "Top up" }).click();
  await page.getByLabel("Amount (JPY)").waitFor();
  await page.getByText("Use a whole number.").waitFor();
});

it("shows a page for unknown addresses, and ends an announcement with its view", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("audit-log", "Audit log");
  await visitor.open("nowhere", "Page not found");
  expect(await page.title()).toBe("Page not found · SMS gateway");
  await visitor.open("templates/new", "New template");
  await page.getByLabel("Name").fill("code");
  await page.getByLabel("Text").fill("Your code is {{code}}");
  await page.getByRole("button", { name: "Create template" }).click();
  await visitor.heading("Template code");
  // It survives the navigation that it announces, and ends with the next one.
  const announcement = page.getByText("Template created.");
  await announcement.waitFor();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await visitor.heading("Webhooks");
  expect(await announcement.count()).toBe(0);
});

it("shows assigned numbers, and advises contacting the operator only without numbers", async () => {
  const customer = await Customer.register();
  visitor = await ConsoleVisitor.arriveAs(browser, customer);
  const { page } = visitor;
  await visitor.open("inbound", "Inbound messages");
  const advice = page.getByText("Contact the gateway operator to get one");
  await advice.waitFor();
  await page.route(/\/v1\/numbers/, async (route) => {
    const response = await route.fetch();
    const { meta } = z.object({ meta: PageMeta }).parse(await response.json());
    const data = [{ number: "15005559999" }, { number: "12345", keyword: "PIZZA" }];
    await route.fulfill({ json: { data, meta: { ...meta, total: 2 } } });
  });
  await page.reload();
  await page.getByText("15005559999").waitFor();
  await page.getByText("PIZZA").waitFor();
  await page.getByText("Messages sent to your numbers appear here").waitFor();
  expect(await advice.count()).toBe(0);
});
