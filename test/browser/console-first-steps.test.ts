import { expect, vi } from "vitest";

import { Customer } from "../support/api.ts";
import { faultsOn } from "../support/browser.ts";
import { it } from "../support/console.ts";
import { patience } from "../support/patience.ts";
import { allowToSend } from "../support/policies.ts";

it("leads a new customer of a strict stage by its own policies, until all steps are done", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  const step = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  await step("Add funds").getByText("to do").waitFor();
  // No alarm for a new customer, and no step that this stage does not require.
  expect(await page.getByRole("heading", { name: "Needs attention" }).count()).toBe(0);
  expect(await step("Verify your email").count()).toBe(0);
  await visitor.replaceInPage("top-up", "verified-email kyc approved-sender-ids");
  await step("Verify your email").getByText("to do").waitFor();
  expect(await step("Send your first live message").getByRole("link").count()).toBe(0);
  await customer.client.submitKyc({ body: { businessName: "Ada's shop" } });
  await customer.client.createSenderId({ body: { senderId: "ADASHOP" } });
  await customer.client.sendSms({ body: { to: "15005550007", message: "hello", test: true } });
  await page.getByRole("button", { name: "Refresh" }).click();
  await step("Submit your business details").getByText("waiting for the operator").waitFor();
  await step("Send a test message").getByText("✓ Done").waitFor();
  await step("Get a sender ID approved").getByRole("link", { name: "Sender IDs" }).waitFor();
  expect(await page.getByRole("heading", { name: "Needs attention" }).count()).toBe(0);
  expect(await faultsOn(page, "first-steps")).toEqual([]);

  await allowToSend(customer.organizationId);
  await customer.topUp(1);
  await visitor.replaceInPage("top-up", "verified-email");
  await step("Verify your email").getByText("✓ Done").waitFor();
  await step("Send your first live message").getByRole("link").click();
  await visitor.heading("Send a message");
  await visitor.fillMessage("15005550000", "hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Just sent").waitFor();
  await visitor.open("", "Overview");
  await page.getByRole("heading", { name: "Messages by day" }).waitFor();
  expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0);
});

it("a customer without funds sends a free test message, and finds it without a price", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "messages", "Messages");
  const { page } = visitor;
  await page.getByText("No live messages yet").waitFor();
  await page.getByRole("link", { name: "Send a test message (free)" }).click();
  await visitor.heading("Send a message");
  expect(await page.getByLabel("Test message (free)").isChecked()).toBe(true);
  expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("+15005550007");
  await page.getByLabel("Message", { exact: true }).fill("hello");
  await page.getByText("A test message is free.").waitFor();
  await page.getByRole("button", { name: "Send test message", exact: true }).click();
  await page.getByRole("link", { name: "+1 500 555 0007" }).click();
  await visitor.heading("Message to +1 500 555 0007");
  await page.getByText("✓ delivered").waitFor();
  await page.getByText("Free test message").waitFor();
  expect(await page.getByRole("heading", { name: "Price" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "View ledger" }).count()).toBe(0);
  await visitor.open("messages", "Messages");
  await page.getByRole("link", { name: "Show test messages" }).click();
  await page.getByRole("row").filter({ hasText: "+1 500 555 0007" }).getByText("Free").waitFor();
  expect([await customer.balance(), await customer.ledger()]).toEqual([0, []]);
  // A live message needs funds, as before.
  await visitor.open("send", "Send a message");
  expect(await page.getByLabel("Test message (free)").isChecked()).toBe(false);
});

it("explains a failed message, and sends it again with its values", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const fields = { to: "15005550006", message: "Your table is ready", messageType: "transactional" } as const;
  const { id } = await customer.send(fields);
  await customer.send({ to: "15005550002" });
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("failed"), patience);
  const visitor = await arriveAs(customer, "messages", "Messages");
  const { page } = visitor;
  const row = page.getByRole("row").filter({ hasText: "+1 500 555 0006" });
  await row.getByText("could not be reached in any attempt").waitFor();
  await row.getByText("Refunded").waitFor();
  await page.getByRole("link", { name: "+1 500 555 0002" }).click();
  await visitor.heading("Message to +1 500 555 0002");
  await page.getByText("Contact the gateway operator if its country").waitFor();
  expect(await page.getByRole("link", { name: "Send again" }).count()).toBe(0);
  await visitor.open(`messages/${id}`, "Message to +1 500 555 0006");
  await page.getByText("Send it again in a few minutes").waitFor();
  expect(await faultsOn(page, "message-advice")).toEqual([]);
  await page.getByRole("link", { name: "Send again" }).click();
  await visitor.heading("Send a message");
  await vi.waitFor(async () => {
    expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe(`+${fields.to}`);
  }, patience);
  const values = ["Message", "From", "Type"].map((label) =>
    page.getByLabel(label, { exact: true }).inputValue(),
  );
  expect(await Promise.all(values)).toEqual([fields.message, "ACME", "transactional"]);
  await page.getByLabel("To", { exact: true }).fill("15005550007");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("✓ sent").waitFor();
  const [newest] = (await customer.client.listSms()).rows;
  expect(newest).toMatchObject({ ...fields, to: "15005550007", senderId: "ACME" });
});
