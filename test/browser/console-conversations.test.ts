import { randomUUID } from "node:crypto";

import { expect } from "vitest";
import * as z from "zod/mini";

import { PageMeta } from "../../shared/api/contract/primitives.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";
import { replyOf } from "../support/inbound-messages.ts";

it("shows who wrote to a number, counts unread conversations, and replies from the number", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const { organizationId, client } = customer;
  const number = `1206${String(Date.now()).slice(-7)}`;
  await assignNumber({ number, organizationId });
  await client.createContact({
    body: { phoneNumber: "15005550007", firstName: "Ada", lastName: "Lovelace" },
  });
  await receiveInboundMessage({
    ...replyOf({ from: "15005550007", to: number, message: "Can we move it?" }),
    carrierId: randomUUID(),
  });
  const visitor = await arriveAs(customer, "", "Overview");
  const { page } = visitor;
  await page.getByRole("link", { name: "Read", exact: true }).click();
  await visitor.heading("Conversations");
  await page.getByRole("link", { name: "Conversations 1 waiting" }).waitFor();
  await page.getByRole("link", { name: "Ada Lovelace" }).click();
  await visitor.heading("Ada Lovelace");
  await page.getByText("Can we move it?").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Thursday at ten?");
  await page.getByRole("button", { name: "Send reply" }).click();
  await page.getByText("✓ delivered").waitFor();
  expect(await page.locator(".thread li p").allTextContents()).toEqual([
    "Can we move it?",
    "Thursday at ten?",
  ]);
  expect((await client.listSms()).rows).toMatchObject([{ from: number, message: "Thursday at ten?" }]);
  await page.getByRole("link", { name: "Conversations", exact: true }).first().waitFor();
  expect((await client.listConversations({ query: { unread: true } })).meta.total).toBe(0);
  await page.getByRole("button", { name: "Mark as unread" }).click();
  await page.getByRole("link", { name: "Conversations 1 waiting" }).waitFor();
  await receiveInboundMessage({
    ...replyOf({ from: "15005550008", to: number, message: "STOP" }),
    carrierId: randomUUID(),
  });
  await visitor.open("inbound", "Inbound messages");
  await page.getByText("STOP: gets only one-time codes from now on").waitFor();
});

it("shows assigned numbers, and advises contacting the operator only without numbers", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const { page } = await arriveAs(customer, "inbound", "Inbound messages");
  const advice = page.getByText("Contact the gateway operator to get one");
  await advice.waitFor();
  await page.route(/\/v1\/numbers/, async (route) => {
    const response = await route.fetch();
    const { meta } = z.object({ meta: PageMeta }).parse(await response.json());
    const data = [{ number: "15005559999" }, { number: "12345", keyword: "PIZZA" }];
    await route.fulfill({ json: { data, meta: { ...meta, total: 2 } } });
  });
  await page.reload();
  await page.getByText("+1 500 555 9999").waitFor();
  await page.getByText("PIZZA").waitFor();
  await page.getByText("Messages sent to your numbers appear here").waitFor();
  expect(await advice.count()).toBe(0);
});
