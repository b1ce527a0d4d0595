import { randomUUID } from "node:crypto";

import type { Route } from "playwright-core";
import { expect, inject, vi } from "vitest";

import { Customer, password } from "../support/api.ts";
import { it } from "../support/console.ts";
import { patience } from "../support/patience.ts";

it("a new customer opens the gateway's address, signs up, tops up, sends, and sees the message delivered", async ({
  arrive,
}) => {
  const visitor = await arrive();
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
  await page.getByRole("navigation").getByRole("link", { name: "Wallet" }).click();
  await visitor.heading("Wallet");
  await page.getByRole("button", { name: "Add free funds" }).click();
  await page.getByLabel("Amount (USD)").fill("5,50");
  await page.getByRole("dialog").getByRole("button", { name: "Add free funds" }).click();
  await page.getByText("Your balance is now US$5.50.").waitFor();

  await page.getByRole("link", { name: "Send", exact: true }).click();
  await visitor.heading("Send a message");
  const to = page.getByLabel("To", { exact: true });
  await to.fill("07700 900123");
  await page.getByLabel("Country of the number").selectOption("GB");
  await page.getByLabel("From").fill("ADASHOP");
  await page.getByLabel("Message", { exact: true }).fill("Your code is 123456");
  await page.getByText(/^US\$0\.\d+ \(1 × US\$0\.\d+\)$/).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "+44 7700 900123" }).waitFor();
  await to.fill("+1 (500) 555-0007");
  await page.getByLabel("Message", { exact: true }).fill("Your code is 123456");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "+1 500 555 0007" }).waitFor();
  await page.getByText("✓ sent").first().waitFor();

  await page.getByRole("link", { name: "Messages", exact: true }).click();
  await visitor.heading("Messages");
  await page.getByRole("link", { name: "+1 500 555 0007" }).click();
  await visitor.heading("Message to +1 500 555 0007");
  await page.getByText("Submitted to the carrier").waitFor();
  await page.getByText("✓ delivered").waitFor();
  const tookSeconds = ((performance.now() - beganAtMs) / 1_000).toFixed(1);
  process.stdout.write(
    `From the address to the message that was delivered, the clicking took ${tookSeconds} s.\n`,
  );
  const elsewhere = visitor.watched.requested.filter((each) => !each.includes(` ${inject("baseUrl")}/`));
  expect(elsewhere).toEqual([]);
});

it("moves the focus to an invalid field, shows its error once, and keeps the input", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "send", "Send a message");
  const { page } = visitor;
  const message = page.getByLabel("Message", { exact: true });
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
  await visitor.focusOn("to");
  expect(await to.getAttribute("aria-invalid")).toBe("true");
  expect(await message.inputValue()).toHaveLength(10_000);
});

it("keeps the input while the network is down, and sends once although a response is lost", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "send", "Send a message");
  const { page, context } = visitor;
  const send = page.getByRole("button", { name: "Send", exact: true });
  await visitor.fillMessage("15005550000", "hello");
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
  expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("hello");
  await send.click();
  await page.getByText("Just sent").waitFor();
  expect((await customer.client.listSms()).meta.total).toBe(1);
});

it("keeps the focus while a message is sent, and moves it to the result", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await visitor.open("send", "Send a message");
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("Message", { exact: true }).fill("hello");
  const send = page.getByRole("button", { name: "Send", exact: true });
  await send.focus();
  await page.keyboard.press("Enter");
  // The field explains that the sender ID is missing.
  await page.getByText("Enter a sender ID.").waitFor();
  await visitor.focusOn("senderId");
  await page.keyboard.type("ACME");
  await page.keyboard.press("Enter");
  await vi.waitFor(
    async () => expect(await visitor.focused()).toContain("does not cover this message"),
    patience,
  );
  await customer.client.topUpWallet({ body: { amount: 1 } });
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/sms/send", async (route) => {
    await held.promise;
    await route.continue();
  });
  await send.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Please wait…" }).waitFor();
  expect(await visitor.focused()).toBe("Please wait…");
  held.resolve();
  await visitor.focusOn("+1 500 555 0000");
});

it("keeps drafts of a message and a campaign across views, and clears them with the session", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  await customer.client.createContact({ body: { phoneNumber: "15005550010", tags: ["customers"] } });
  const visitor = await arriveAs(customer, "send", "Send a message");
  const { page } = visitor;
  const [to, message] = [page.getByLabel("To", { exact: true }), page.getByLabel("Message", { exact: true })];
  await to.fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await message.fill("Your table is ready");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("The wallet balance does not cover this message.").waitFor();
  // The link that the console shows, and back.
  await page
    .getByRole("alert")
    .filter({ hasText: "does not cover" })
    .getByRole("link", { name: "Add funds" })
    .click();
  await page.getByRole("dialog", { name: "Add funds" }).waitFor();
  await customer.topUp(10);
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

it("finds one of many messages by a number as people write it, and keeps the filter on the way back", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const { id } = await customer.send({ to: "447700900123", message: "the oldest" });
  const visitor = await arriveAs(customer, "messages", "Messages");
  const { page } = visitor;
  await page.getByRole("link", { name: "+44 7700 900123" }).waitFor();
  // The list of a customer with 5,000 newer messages: the first pages of a filter are empty.
  let reads = 0;
  await page.route(/\/v1\/sms\?/, async (route) => {
    const url = new URL(route.request().url());
    if (!url.searchParams.has("search") || (reads += 1) > 5) return route.continue();
    const meta = {
      limit: 25,
      total: 0,
      totalPages: 0,
      nextCursor: Buffer.from("msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ").toString("base64url"),
    };
    return route.fulfill({ json: { data: [], meta } });
  });
  await page.getByLabel("Number or text").fill("07700 900123");
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByRole("button", { name: "Filter" }).click();
  await vi.waitFor(() => expect(reads).toBe(6), patience);
  await page.getByRole("link", { name: "+44 7700 900123" }).click();
  await visitor.heading("Message to +44 7700 900123");
  await page.getByRole("main").getByRole("link", { name: "Messages" }).click();
  await visitor.heading("Messages");
  await page.getByRole("link", { name: "+44 7700 900123" }).waitFor();
  expect(await page.getByLabel("Number or text").inputValue()).toBe("07700 900123");
  await page.getByLabel("Number or text").fill("nothing like this");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No messages match").waitFor();
  expect(page.url()).toContain("search=nothing");
  expect((await customer.client.getSms({ params: { id } })).message).toBe("the oldest");
});

it("finds messages by number and status, and cancels a scheduled one", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.send({ to: "15005550007" });
  await customer.send({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() });
  const visitor = await arriveAs(customer, "messages", "Messages");
  const { page } = visitor;
  await page.getByLabel("Number or text").fill("+1 500 555 0007");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "+1 500 555 0000" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "+1 500 555 0007" }).waitFor();
  await page.locator("button:focus", { hasText: "Filter" }).waitFor();
  await visitor.open("messages", "Messages");
  await vi.waitFor(
    async () => expect(await page.getByLabel("Number or text").inputValue()).toBe(""),
    patience,
  );
  await page.getByLabel("Status").selectOption("scheduled");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "+1 500 555 0000" }).click();
  await visitor.heading("Message to +1 500 555 0000");
  await visitor.confirm("Cancel message");
  await page.getByText("– cancelled").waitFor();
  expect(await customer.balance()).toBe(0.9921);
});

it("creates a template with a preview, and sends it with values", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "templates/new", "New template");
  const { page } = visitor;
  await page.getByLabel("Name").fill("code");
  await page.getByLabel("Text").fill("Your code is {{code");
  await page.getByText("has a placeholder that is not closed").waitFor();
  await page.getByLabel("Text").fill("Your code is {{code}}");
  await page.getByText("Your code is ‹code›").waitFor();
  await page.getByRole("button", { name: "Create template" }).click();
  await visitor.heading("Template code");
  await page.getByLabel("To", { exact: true }).fill("15005550000");
  await page.getByLabel("From").fill("ACME");
  await page.getByLabel("Type").selectOption("otp");
  await page.getByLabel("{{code}}").fill("123456");
  await page.getByText("Your code is 123456").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "message to +1 500 555 0000" }).waitFor();
  expect((await customer.client.listSms()).rows[0]).toMatchObject({
    message: "Your code is 123456",
    messageType: "otp",
  });
});

it("offers contacts by name and templates, and warns of placeholders", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const { client } = customer;
  await client.createContact({
    body: { phoneNumber: "15005550007", firstName: "Ada", lastName: "Lovelace" },
  });
  await client.createTemplate({ body: { name: "code", body: "Your code is {{code}}" } });
  const { page } = await arriveAs(customer, "send", "Send a message");
  const to = page.getByLabel("To", { exact: true });
  await to.fill("lovel");
  const offered = page.locator("datalist option[label='Ada Lovelace']");
  await offered.waitFor({ state: "attached" });
  await to.fill((await offered.getAttribute("value")) ?? "");
  await page.getByLabel("From").fill("ACME");
  await page.getByLabel("Use a template").selectOption("code");
  const warning = page.getByText("Placeholders are sent as they are.");
  await warning.waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Your code is 123456");
  expect(await warning.count()).toBe(0);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Just sent").waitFor();
  expect((await client.listSms()).rows).toMatchObject([
    { to: "15005550007", message: "Your code is 123456" },
  ]);
});
