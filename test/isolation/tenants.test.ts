import { beforeAll, expect, it, vi } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import type { ProtectedRoute, Route } from "../../shared/api/routes/route.ts";
import { call, Customer } from "../support/api.ts";
import { patience } from "../support/patience.ts";
import { payByCard, saveCardOf } from "../support/payments.ts";

/*
 * Each route with an id, called by another organization and by a test key with the id of an item of the first one.
 */

/** The ids of what the first organization has, by the part of the path before the id. */
const ids: Record<string, string> = {};
const strangers: Record<string, string> = {};
let delivery = "";

beforeAll(async () => {
  const [owner, other] = [await Customer.register({ balance: 50 }), await Customer.register({ balance: 50 })];
  const { client } = owner;
  strangers["session"] = other.token;
  strangers["key"] = (await other.client.createApiKey({ body: {} })).secret;
  strangers["test key"] = (await other.client.createApiKey({ body: { test: true } })).secret;
  strangers["test key of the owner"] = (await client.createApiKey({ body: { test: true } })).secret;
  const webhook = await client.createWebhook({
    body: { url: "http://127.0.0.1:9/", events: ["message.sent"] },
  });
  await owner.send();
  const text = { message: "hello", senderId: "ACME" };
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  ids["sms"] = (await client.sendSms({ body: { to: "15005550000", ...text, scheduledAt } })).id;
  ids["verifications"] = (
    await client.startVerification({ body: { to: "15005550007", senderId: "ACME" } })
  ).id;
  ids["templates"] = (await client.createTemplate({ body: { name: "t", body: "hello" } })).id;
  ids["contacts"] = (await client.createContact({ body: { phoneNumber: "15005550001" } })).id;
  ids["campaigns"] = (
    await client.createCampaign({ body: { name: "c", ...text, audience: { all: true } } })
  ).id;
  ids["webhooks"] = webhook.id;
  ids["sender-ids"] = (await client.createSenderId({ body: { senderId: "ACMEX" } })).id;
  ids["exports"] = (await client.createExport({ body: { messages: {} } })).id;
  ids["hooks"] = (await client.createHook({ body: { kind: "logto" } })).id;
  ids["members"] = (await client.getMe()).user.id;
  ids["sessions"] = (await client.listSessions()).rows[0]?.id ?? "";
  await saveCardOf(owner);
  const payment = await payByCard(owner, 10);
  ids["payments"] = payment.id;
  ids["invoices"] = payment.invoiceNumber ?? "";
  ids["payment-methods"] = (await client.listPaymentMethods())[0]?.id ?? "";
  const limited = await client.createApiKey({ body: { limits: { holdAbove: 0 } } });
  ids["api-keys"] = limited.id;
  await call("/v1/sms/send", { credential: limited.secret, json: { to: "15005550000", ...text } });
  ids["held-messages"] = (await client.listHeldMessages()).rows[0]?.id ?? "";
  await client.testInbound({ body: { from: "15005550001", to: "15005550010", message: "hi" } });
  await vi.waitFor(async () => {
    ids["conversations"] = (await client.listConversations({ query: { test: true } })).rows[0]?.id ?? "";
    delivery = (await client.listWebhookDeliveries({ params: { id: webhook.id } })).rows[0]?.id ?? "";
    if ([ids["conversations"], delivery].includes("")) throw new Error("not yet");
  }, patience);
}, 120_000);

/** Bodies that are valid, so that the id decides. */
const bodies: Readonly<Record<string, object>> = {
  updateMember: { role: "viewer" },
  updateWebhook: { enabled: false },
  reportVerification: { outcome: "approved" },
  decideHeldMessage: { approve: false },
  replyToConversation: { message: "hi" },
  sendTemplate: { to: "15005550000", senderId: "ACME" },
  updateContact: { firstName: "Mallory" },
  updateTemplate: { name: "mine" },
  updateCampaign: { name: "mine" },
  updateConversation: { isUnread: false },
  updateApiKey: { limits: { dailyBudget: 1 } },
};

const rows = Object.entries<Route>(routes).filter(
  (row): row is [string, ProtectedRoute] => row[1].auth !== "none" && row[1].path.includes("{id}"),
);

it.each(rows)("%s is of no use to another organization", async (operation, { method, path }) => {
  const kind = path.split("/{id}")[0]?.split("/").at(-1) ?? "";
  const id = ids[kind] ?? "";
  expect(id, kind).not.toBe("");
  const target = path.replace("{id}", id).replace("{deliveryId}", delivery).replace("{part}", "1");
  const json = method === "GET" || method === "DELETE" ? undefined : (bodies[operation] ?? {});
  for (const [name, credential] of Object.entries(strangers)) {
    // A test key sends the templates of its organization, and sees the conversation, which is of a test message.
    const isUseful = operation === "sendTemplate" || kind === "conversations";
    if (name === "test key of the owner" && isUseful) continue;
    const { status } = await call(target, { method, credential, json });
    expect([403, 404], `${name}: ${status}`).toContain(status);
  }
});

it("the code of another organization cannot be checked by its number", async () => {
  const json = { to: "15005550007", code: "000000" };
  expect((await call("/v1/verifications/check", { credential: strangers["key"] ?? "", json })).status).toBe(
    404,
  );
});
