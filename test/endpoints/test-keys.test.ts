import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { scopesOfTestKeys } from "../../shared/api/contract/scopes.ts";
import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { isTestId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { RoleOfMember } from "../../shared/tenancy/organizations/member-record.ts";
import { call, Customer, errorOf, invalidFields } from "../support/api.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

const Sent = z.object({ data: z.object({ id: z.string() }) });

let customer: Customer;
/** The same customer, calling with a test key. */
let tester: Customer;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1 });
  tester = await customer.withApiKey({ test: true });
});

async function ended(id: string): Promise<Awaited<ReturnType<Customer["message"]>>> {
  return vi.waitFor(async () => {
    const message = await tester.message(id);
    expect(message.status).not.toBe("queued");
    return message;
  }, patience);
}

describe("a test key", () => {
  it("has a secret of its own form, is marked, and has the scopes of test keys", async () => {
    const key = await customer.client.createApiKey({ body: { test: true, name: "tests" } });
    expect(key.secret).toMatch(/^nn_test_[0-9A-Za-z]{38}$/);
    expect(key).toMatchObject({ test: true, scopes: ["send", "read", "webhooks"] });
    expect(key.hint.startsWith("nn_test_")).toBe(true);
    const { rows } = await customer.client.listApiKeys();
    expect(rows.find(({ id }) => id === key.id)).toMatchObject({ test: true });
    expect((await customer.createApiKey()).test).toBeUndefined();
  });

  it("stays one when it is rotated, and ends when it is disabled", async () => {
    const { id } = await customer.client.createApiKey({ body: { test: true, scopes: ["send"] } });
    const rotated = await customer.client.rotateApiKey({ params: { id } });
    expect(rotated).toMatchObject({ test: true, scopes: ["send"] });
    expect(rotated.secret).toMatch(/^nn_test_/);
    await customer.client.disableApiKey({ params: { id: rotated.id } });
    const rejected = await call("/v1/sms", { credential: rotated.secret });
    expect(errorOf(rejected)).toEqual({ status: 401, code: "UNAUTHORIZED" });
  });

  it.each(["billing", "keys", "contacts", "campaigns"])("never has the scope %s", async (scope) => {
    const response = await customer.call("/v1/auth/api-keys", {
      json: { test: true, scopes: ["send", scope] },
    });
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual(["scopes"]);
  });

  it("cannot change a live webhook, and the audit log has the attempt", async () => {
    const { id } = await customer.client.createWebhook({ body: { url: "https://example.com/hook" } });
    const rejected = await tester.call(`/v1/webhooks/${id}`, { method: "DELETE" });
    expect(errorOf(rejected)).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await customer.client.listWebhooks()).rows).toHaveLength(1);
    const { rows } = await customer.client.listAuditLog();
    expect(rows[0]).toMatchObject({
      action: "DELETE /v1/webhooks/{id}",
      subject: { id },
      outcome: "refused",
    });
  });

  it("needs no sender ID, and can read the account", async () => {
    const { id } = await tester.client.sendSms({ body: { to: "15005550000", message: "hello" } });
    expect(await tester.message(id)).toMatchObject({ senderId: "TEST" });
    const live = await customer.call("/v1/sms/send", { json: { to: "15005550000", message: "hello" } });
    expect(errorOf(live)).toEqual({ status: 400, code: "MISSING_SENDER_ID" });
    const { organization, scopes } = await tester.client.getMe();
    expect(organization.id).toMatch(/^org_/);
    expect(scopes).toEqual(scopesOfTestKeys);
  });

  // `test/unit/route-rules.test.ts` tests each operation.
  it.each([
    ["GET", "/v1/contacts"],
    ["POST", "/v1/auth/api-keys"],
    ["POST", "/v1/wallet/top-up"],
  ])("cannot call %s %s", async (method, path) => {
    const response = await tester.call(path, { method });
    expect(errorOf(response)).toEqual({ status: 403, code: "TEST_KEY_NOT_ALLOWED" });
  });
});

describe("a test message", () => {
  it.each([
    ["15005550000", { status: "sent" }],
    ["15005550001", { status: "failed", errorCode: "MESSAGE_INVALID_DESTINATION" }],
  ])("to %s ends as a live one, is marked, and costs nothing", async (to, outcome) => {
    const accepted = await tester.send({ to });
    expect(isTestId(accepted.id)).toBe(true);
    expect(accepted).toMatchObject({ test: true, pricing: { total: 0.0079 } });
    expect(await ended(accepted.id)).toMatchObject({ ...outcome, test: true });
    expect(await customer.balance()).toBe(1);
    expect((await customer.ledger()).map(({ type }) => type)).toEqual(["top_up"]);
  });

  it("is kept apart in lists and statistics", async () => {
    const [live, test] = [await customer.send(), await tester.send()];
    await ended(test.id);
    const idsOf = async (caller: Customer, query = {}): Promise<string[]> =>
      (await caller.client.listSms({ query })).rows.map(({ id }) => id);
    expect(await idsOf(customer)).toEqual([live.id]);
    expect(await idsOf(customer, { test: "false" })).toEqual([live.id]);
    expect(await idsOf(customer, { test: true })).toEqual([test.id]);
    expect(await idsOf(tester)).toEqual([test.id]);
    expect(await idsOf(tester, { test: "false" })).toEqual([test.id]);
    expect(await customer.message(test.id)).toMatchObject({ test: true });
    for (const method of ["GET", "DELETE"]) {
      const hidden = await tester.call(`/v1/sms/${live.id}`, { method });
      expect(errorOf(hidden)).toEqual({ status: 404, code: "NOT_FOUND" });
    }
    const stats = await customer.client.getDashboardStats();
    expect(stats.today.accepted).toBe(1);
    expect((await customer.client.getWallet()).spentToday).toBe(0.0079);
    expect((await customer.client.getUsage()).total.messages).toBe(1);
  });

  it("needs neither money nor a price for the estimate", async () => {
    const poor = await (await Customer.register()).withApiKey({ test: true });
    const body: SendSmsRequest = {
      to: "15005550000",
      message: "hello",
      senderId: "ACME",
      language: "English",
    };
    expect(await poor.client.estimateSms({ body })).toMatchObject({
      pricing: { total: 0.0079 },
      balance: 0,
      isCovered: true,
    });
    expect((await poor.send()).test).toBe(true);
  });

  it("never gives its response to a live request with the same Idempotency-Key", async () => {
    const send = async (caller: Customer) =>
      caller.client.sendSms({ body: message, idempotencyKey: "order-1" });
    const message = { to: "15005550000", message: "hello", senderId: "ACME" };
    const test = await send(tester);
    expect(await send(tester)).toEqual(test);
    const live = await send(customer);
    expect(live.test).toBeUndefined();
    expect(await customer.balance()).toBe(0.9921);
  });

  it("is cancelled before its time without a refund", async () => {
    const { id } = await tester.send({ scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await tester.client.cancelSms({ params: { id } })).toMatchObject({
      status: "cancelled",
      test: true,
    });
    expect(await customer.balance()).toBe(1);
  });
});

describe("a test message of a person", () => {
  const body = { to: "15005550007", message: "hello", test: true };

  it("needs no funds, no sender ID and no key, is delivered, and costs nothing", async () => {
    const person = await Customer.register();
    const { id, test } = await person.client.sendSms({ body });
    expect([isTestId(id), test]).toEqual([true, true]);
    const message = await vi.waitFor(async () => {
      const found = await person.message(id);
      expect(found.delivery?.status).toBe("delivered");
      return found;
    }, patience);
    expect(message).toMatchObject({ test: true, senderId: "TEST" });
    expect(await person.client.estimateSms({ body })).toMatchObject({ balance: 0, isCovered: true });
    expect([await person.balance(), await person.ledger()]).toEqual([0, []]);
    expect((await person.client.getWallet()).spentToday).toBe(0);
    expect((await person.client.listSms()).rows).toEqual([]);
    expect((await person.client.listSms({ query: { test: true } })).rows).toMatchObject([{ id }]);
  });

  it("is also sent from a template, and only with the scope to send", async () => {
    const { id } = await customer.client.createTemplate({ body: { name: "code", body: "Code {{code}}" } });
    const values = { code: "123456" };
    const sent = await customer.client.sendTemplate({
      params: { id },
      body: { to: "15005550007", test: true, values },
    });
    expect(sent.test).toBe(true);
    expect(await customer.balance()).toBe(1);
    const { user } = await customer.client.getMe();
    const ofMember = keys.member(customer.organizationId, user.id);
    await updateItem(RoleOfMember, updateOf(ofMember, { set: { role: "viewer" } }));
    const rejected = await customer.call("/v1/sms/send", { json: body });
    expect(errorOf(rejected)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });

  it.each([{}, { limits: { dailyBudget: 1 } }])(
    "is not sent or estimated by a live key with %j",
    async (key) => {
      const live = await customer.withApiKey(key);
      for (const path of ["/v1/sms/send", "/v1/sms/estimate"]) {
        const rejected = await live.call(path, { json: body });
        expect(errorOf(rejected), path).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
      }
      expect((await customer.client.listSms({ query: { test: true } })).rows).toEqual([]);
      expect((await live.send({ test: false })).test).toBeUndefined();
    },
  );

  it("is not repeated with its Idempotency-Key, also at the same moment, and never as a live one", async () => {
    const send = async (test: boolean) => customer.trySend({ test }, "order-1");
    const raced = await Promise.all([send(true), send(true)]);
    expect(raced.map(({ status }) => status)).toContain(202);
    expect((await send(true)).status).toBe(202);
    expect((await customer.client.listSms({ query: { test: true } })).rows).toHaveLength(1);
    expect(errorOf(await send(false)).code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(await customer.balance()).toBe(1);
  });
});

it.each(["index", "guides/one-time-codes"])(
  "the first message that %s sends works as it stands",
  async (page) => {
    const { text } = await call(`/docs/${page}.md`);
    const [, sample = ""] = /\/v1\/sms\/send[^]*?-d '(.+)'/.exec(text) ?? [];
    const { data } = Sent.parse((await tester.call("/v1/sms/send", { json: JSON.parse(sample) })).body);
    await vi.waitFor(async () => {
      expect((await tester.message(data.id)).delivery?.status).toBe("delivered");
    }, patience);
  },
);

/** The id of the subject of a webhook call. */
function idOf(body: string): string {
  return z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(body)).data.id;
}

describe("webhooks", () => {
  let hook: WebhookReceiver;
  beforeEach(async () => {
    hook = await startWebhookReceiver();
  });
  afterEach(async () => hook.stop());

  const waitForCalls = async (receiver: WebhookReceiver, ...ids: readonly string[]): Promise<void> =>
    vi.waitFor(() => {
      expect(receiver.calls.map(({ body }) => idOf(body)).toSorted()).toEqual(ids.toSorted());
    }, patience);

  it("of live keys and people get no events of test messages, which a test key could forge", async () => {
    const tests = await startWebhookReceiver();
    const events = ["message.sent", "message.failed", "message.received"] as const;
    await customer.client.createWebhook({ body: { url: hook.url, events: [...events] } });
    await tester.client.createWebhook({ body: { url: tests.url, events: [...events] } });
    const inbound = { from: "447700900123", to: "447700111222", message: "YES, transfer approved" };
    const { id: received } = await tester.client.testInbound({ body: inbound });
    const [{ id }, failing] = [await tester.send(), await tester.send({ to: "15005550002" })];
    await waitForCalls(tests, id, failing.id, received);
    for (const { body } of tests.calls) expect(body).toContain('"test":true');
    await tests.stop();
    const live = await customer.send();
    await waitForCalls(hook, live.id);
  });

  it("of test keys get the events of test messages only, and test keys see no others", async () => {
    const own = await tester.client.createWebhook({ body: { url: hook.url } });
    expect(own.test).toBe(true);
    const other = await startWebhookReceiver();
    const live = await customer.client.createWebhook({ body: { url: other.url } });
    const [liveMessage, testMessage] = [await customer.send(), await tester.send()];
    await waitForCalls(other, liveMessage.id);
    await waitForCalls(hook, testMessage.id);
    await other.stop();

    expect((await tester.client.listWebhooks()).rows.map(({ id }) => id)).toEqual([own.id]);
    expect((await customer.client.listWebhooks()).rows).toHaveLength(2);
    expect((await tester.client.listWebhookDeliveries({ params: { id: own.id } })).rows).toHaveLength(1);
    const [{ id: deliveryId } = { id: "" }] = (
      await customer.client.listWebhookDeliveries({ params: { id: live.id } })
    ).rows;
    const path = `/v1/webhooks/${live.id}`;
    for (const [method, suffix, json] of [
      ["GET", ""],
      ["PATCH", "", { url: "https://example.com" }],
      ["DELETE", ""],
      ["POST", "/rotate-secret"],
      ["POST", "/test"],
      ["GET", "/deliveries"],
      ["POST", `/deliveries/${deliveryId}/retry`],
    ] as const) {
      const response = await tester.call(`${path}${suffix}`, { method, ...(json && { json }) });
      expect(errorOf(response), `${method} ${suffix}`).toEqual({ status: 404, code: "NOT_FOUND" });
    }
    expect((await tester.client.testWebhook({ params: { id: own.id } })).payload.event).toBe("ping");
    await tester.client.updateWebhook({ params: { id: own.id }, body: { enabled: false } });
    await tester.client.deleteWebhook({ params: { id: own.id } });
  });
});

describe("an inbound test message", () => {
  const inbound = { from: "12065550100", to: "ACME", message: "STOP" };

  it("has its event and its own list, and opts no one out", async () => {
    const hook = await startWebhookReceiver();
    await tester.client.createWebhook({ body: { url: hook.url, events: ["message.received"] } });
    const { id } = await tester.client.testInbound({ body: inbound });
    await hook.waitForCalls(1);
    await hook.stop();
    const shown = { id, ...inbound, keyword: "stop", test: true };
    expect(JSON.parse(hook.calls[0]?.body ?? "")).toMatchObject({ event: "message.received", data: shown });
    expect((await tester.client.listInbound()).rows).toMatchObject([shown]);
    expect((await customer.client.listInbound({ query: { test: true } })).rows).toMatchObject([shown]);
    expect((await customer.client.listInbound()).rows).toEqual([]);
    expect((await customer.client.listOptOuts()).rows).toEqual([]);
    await customer.send({ to: inbound.from, messageType: "marketing" });
  });

  it("follows a test message to the number that replies, and no live message", async () => {
    const live = await customer.send({ to: "15005550010" });
    const { id } = await tester.send({ to: "15005550010" });
    await ended(id);
    const list = async () => (await tester.client.listInbound()).rows;
    await vi.waitFor(async () => expect(await list()).toHaveLength(1), patience);
    expect(await list()).toMatchObject([{ from: "15005550010", to: "ACME", test: true }]);
    expect((await customer.message(live.id)).status).toBe("sent");
    expect((await customer.client.listInbound()).rows).toEqual([]);
  });
});

it.each([
  ["15005550007", "delivered"],
  ["15005550008", "undelivered"],
])("the receipt of a test message to %s is %s", async (to, status) => {
  const { id } = await tester.send({ to });
  await vi.waitFor(async () => expect((await tester.message(id)).delivery?.status).toBe(status), patience);
  expect((await customer.client.getDashboardStats()).today).toMatchObject({ delivered: 0, undelivered: 0 });
});
