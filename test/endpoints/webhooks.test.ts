import { createHmac } from "node:crypto";

import { Webhook as StandardWebhook } from "standardwebhooks";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { WebhookEvent } from "../../shared/api/contract/events.ts";
import { CreatedWebhook, Webhook, webhookHeaders } from "../../shared/api/contract/webhooks.ts";
import { call, Customer, dataOf, errorOf, invalidFields, pageOf } from "../support/api.ts";
import { patience } from "../support/patience.ts";
import {
  deliveriesOf,
  ping,
  receiversOfFile,
  registerWebhook,
  waitForStates,
} from "../support/webhook-calls.ts";

const receiver = receiversOfFile();

describe("webhook endpoints", () => {
  /** Has no endpoint, because all its registrations are rejected. */
  let rejected: Customer;
  beforeAll(async () => {
    rejected = await Customer.register();
  });

  it("show their secret once and never again", async () => {
    const customer = await Customer.register();
    const webhook = await registerWebhook(customer, { url: "https://example.com/hook" });
    expect(webhook.secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    const listed = await customer.call("/v1/webhooks");
    expect(listed.body).toMatchObject({
      data: [{ id: webhook.id, url: "https://example.com/hook", events: ["message.sent", "message.failed"] }],
      meta: { total: 1 },
    });
    expect(listed.text).not.toContain("secret");
  });

  it("are removed, once, and not by another organization", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { id } = await registerWebhook(owner, { url: "https://example.com/hook" });
    const remove = async (customer: Customer) => customer.call(`/v1/webhooks/${id}`, { method: "DELETE" });
    expect(errorOf(await remove(stranger))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect(await remove(owner)).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expect(errorOf(await remove(owner))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await owner.call("/v1/webhooks")).body).toMatchObject({ data: [] });
  });

  it.each(["example", "ftp://example.com", "https://user@example.com", "https://:secret@example.com"])(
    "are rejected with the url %s",
    async (url) => {
      const response = await rejected.call("/v1/webhooks", { json: { url } });
      expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
      expect(invalidFields(response)).toEqual(["url"]);
    },
  );

  it("get an error with all events when they name an unknown one", async () => {
    const response = await rejected.call("/v1/webhooks", {
      json: { url: "https://example.com", events: ["message.read"] },
    });
    expect(response.text).toContain("message.sent");
    expect(response.text).toContain("message.failed");
  });
});

describe("a webhook endpoint", () => {
  it("is read and changed by its organization alone", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { id } = await registerWebhook(owner, { url: "https://example.com/hook" });
    const path = `/v1/webhooks/${id}`;
    const patch = async (json: unknown, customer = owner) => customer.call(path, { method: "PATCH", json });

    expect(dataOf(await owner.call(path), Webhook)).toMatchObject({ id, status: "enabled" });
    const changed = await patch({ url: "https://example.com/new", events: ["message.failed"] });
    expect(dataOf(changed, Webhook)).toMatchObject({
      id,
      url: "https://example.com/new",
      events: ["message.failed"],
      status: "enabled",
    });
    expect(changed.text).not.toContain("secret");
    expect(dataOf(await patch({ enabled: false }), Webhook)).toMatchObject({
      url: "https://example.com/new",
      status: "disabled",
      disabledReason: "by_customer",
    });
    expect(pageOf(await owner.call("/v1/webhooks"), Webhook).rows[0]).toMatchObject({
      status: "disabled",
      disabledReason: "by_customer",
    });
    const enabled = await patch({ enabled: true });
    expect(dataOf(enabled, Webhook).status).toBe("enabled");
    expect(enabled.text).not.toContain("disabled");

    expect(dataOf(await patch({}), Webhook)).toEqual(dataOf(enabled, Webhook));

    for (const json of [{ url: "ftp://example.com" }, { events: ["ping"] }, { events: [] }, { enabled: 1 }]) {
      expect(errorOf(await patch(json)), JSON.stringify(json)).toEqual({
        status: 400,
        code: "VALIDATION_ERROR",
      });
    }
    const notFound = { status: 404, code: "NOT_FOUND" };
    expect(errorOf(await patch({ enabled: false }, stranger))).toEqual(notFound);
    for (const [method, suffix] of [
      ["GET", ""],
      ["POST", "/rotate-secret"],
      ["POST", "/test"],
      ["GET", "/deliveries"],
      ["POST", "/deliveries/dlv_01J00000000000000000000000/retry"],
    ] as const) {
      expect(errorOf(await stranger.call(path + suffix, { method })), suffix).toEqual(notFound);
    }
    expect(dataOf(await owner.call(path), Webhook)).toMatchObject({ status: "enabled" });
  });

  it("gets a new secret, and for a day both sign the header that can carry two signatures", async () => {
    const customer = await Customer.register();
    const hook = await receiver();
    const webhook = await registerWebhook(customer, { url: hook.url });
    const rotated = await customer.call(`/v1/webhooks/${webhook.id}/rotate-secret`, { method: "POST" });
    expect(rotated.status).toBe(200);
    const { secret } = dataOf(rotated, CreatedWebhook);
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(webhook.secret);
    expect((await customer.call(`/v1/webhooks/${webhook.id}`)).text).not.toContain("whsec_");

    await ping(customer, webhook);
    await hook.waitForCalls(1);
    const { headers = {}, body = "" } = hook.calls[0] ?? {};
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const [newest = "", previous = "", ...more] = String(sent["webhook-signature"]).split(" ");
    expect(more).toEqual([]);
    for (const [name, schema] of Object.entries(webhookHeaders))
      expect(schema.safeParse(sent[name.toLowerCase()]).success, name).toBe(true);
    const verify = (key: string, signature: string) =>
      new StandardWebhook(key).verify(body, { ...sent, "webhook-signature": signature });
    expect(() => verify(secret, newest)).not.toThrow();
    expect(() => verify(webhook.secret, previous)).not.toThrow();
    expect(sent["x-service-signature"]).toBe(createHmac("sha256", secret).update(body).digest("hex"));
  });

  it("gets a ping when its customer requests one, with any subscription, and no other endpoint does", async () => {
    const customer = await Customer.register();
    const [hook, other] = [await receiver(), await receiver()];
    const webhook = await registerWebhook(customer, { url: hook.url, events: ["message.failed"] });
    await registerWebhook(customer, { url: other.url });
    const { id, eventId, payload } = await ping(customer, webhook);
    await hook.waitForCalls(1);
    expect(hook.calls[0]?.headers).toMatchObject({ "x-service-event": "ping", "webhook-id": eventId });
    expect(JSON.parse(hook.calls[0]?.body ?? "")).toEqual(payload);
    expect(payload).toMatchObject({ event: "ping", data: { id: eventId } });
    await waitForStates(customer, webhook, ["succeeded"]);
    expect((await deliveriesOf(customer, webhook)).rows).toMatchObject([
      { id, payload, attempts: 1, lastStatus: 204 },
    ]);
    expect(other.calls).toHaveLength(0);
  });

  it("is tested with a call whose response the test waits for", async () => {
    const customer = await Customer.register();
    const answers = [204, 500];
    const hook = await receiver((count) => answers[count - 1] ?? 204);
    const webhook = await registerWebhook(customer, { url: hook.url });
    const succeeded = await ping(customer, webhook);
    expect(succeeded).toMatchObject({ state: "succeeded", attempts: 1, lastStatus: 204 });
    expect(succeeded.lastDurationMs).toBeGreaterThanOrEqual(0);
    expect(dataOf(await customer.call(`/v1/webhooks/${webhook.id}`), Webhook).failingSince).toBeUndefined();

    const failed = await ping(customer, webhook);
    expect(failed).toMatchObject({ attempts: 1, lastStatus: 500, lastError: "responded with 500" });
    const unreachable = await registerWebhook(customer, { url: "http://127.0.0.1:9/" });
    const unanswered = await ping(customer, unreachable);
    expect(unanswered).toMatchObject({ attempts: 1, lastError: "connection refused" });
    expect(unanswered.lastStatus).toBeUndefined();
    // Also while it is known to fail, and its other calls have to wait.
    expect(await ping(customer, unreachable)).toMatchObject({ attempts: 1, lastError: "connection refused" });
  });

  it("shows since when its calls fail, until one succeeds", async () => {
    const customer = await Customer.register({ balance: 1 });
    let status = 503;
    const hook = await receiver(() => status);
    const webhook = await registerWebhook(customer, { url: hook.url });
    const show = async () => dataOf(await customer.call(`/v1/webhooks/${webhook.id}`), Webhook);
    expect((await show()).failingSince).toBeUndefined();
    await customer.send();
    await vi.waitFor(async () => expect((await show()).failingSince).toBeDefined(), patience);
    const { failingSince = "", lastFailure } = await show();
    expect(lastFailure).toMatchObject({ status: 503, error: "responded with 503" });
    expect(Date.parse(lastFailure?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(failingSince));
    expect(pageOf(await customer.call("/v1/webhooks"), Webhook).rows).toMatchObject([{ failingSince }]);
    status = 204;
    await ping(customer, webhook);
    const recovered = await customer.call(`/v1/webhooks/${webhook.id}`);
    expect(recovered.text).not.toMatch(/failing|lastFailure/);
  });

  it("gets message.held, if it subscribes to it, for each message that waits for approval", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    await registerWebhook(customer, { url: hook.url, events: ["message.held"] });
    const agent = await customer.client.createApiKey({ body: { limits: { holdAbove: 0 } } });
    const json = { to: "15005550000", message: "Hello", senderId: "ADASHOP" };
    expect((await call("/v1/sms/send", { credential: agent.secret, json })).status).toBe(202);
    await hook.waitForCalls(1);
    const [held] = (await customer.client.listHeldMessages()).rows;
    expect(WebhookEvent.parse(JSON.parse(hook.calls[0]?.body ?? ""))).toEqual({
      event: "message.held",
      timestamp: held?.heldAt,
      data: { id: held?.id, apiKeyId: agent.id, expiresAt: held?.expiresAt },
    });
  });

  it("gets campaign.completed, if it subscribes to it, once all messages were sent or have failed", async () => {
    const customer = await Customer.register({ balance: 1 });
    const [hook, other] = [await receiver(), await receiver()];
    await registerWebhook(customer, { url: hook.url, events: ["campaign.completed"] });
    await registerWebhook(customer, { url: other.url });
    const { client } = customer;
    for (const phoneNumber of ["15005550000", "15005550001"])
      await client.createContact({ body: { phoneNumber } });
    const { id } = await client.createCampaign({
      body: { name: "Autumn sale", message: "Hello", audience: { all: true }, senderId: "ADASHOP" },
    });
    await client.launchCampaign({ params: { id } });
    await hook.waitForCalls(1);
    const [received] = hook.calls;
    expect(received?.headers).toMatchObject({ "x-service-event": "campaign.completed" });
    expect(WebhookEvent.parse(JSON.parse(received?.body ?? ""))).toEqual({
      event: "campaign.completed",
      timestamp: (await client.getCampaign({ params: { id } })).endedAt,
      data: {
        id,
        name: "Autumn sale",
        accepted: 2,
        sent: 1,
        failed: 1,
        charged: 0.0158,
        currency: "USD",
      },
    });
    await other.waitForCalls(2);
    expect(other.calls.map(({ headers }) => String(headers["x-service-event"])).toSorted()).toEqual([
      "message.failed",
      "message.sent",
    ]);
  });

  it("gets no calls while it is disabled, and its missed deliveries can be listed and sent later", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    const webhook = await registerWebhook(customer, { url: hook.url });
    const patch = async (enabled: boolean) =>
      customer.call(`/v1/webhooks/${webhook.id}`, { method: "PATCH", json: { enabled } });
    await patch(false);
    const { id } = await customer.send();
    await waitForStates(customer, webhook, ["failed"]);
    const [missed] = (await deliveriesOf(customer, webhook)).rows;
    expect(missed).toMatchObject({ attempts: 0, lastError: "the endpoint is disabled" });
    const retry = async () =>
      customer.call(`/v1/webhooks/${webhook.id}/deliveries/${String(missed?.id)}/retry`, { method: "POST" });
    expect(errorOf(await retry())).toEqual({ status: 409, code: "CONFLICT" });
    const refusedPing = await customer.call(`/v1/webhooks/${webhook.id}/test`, { method: "POST" });
    expect(errorOf(refusedPing)).toEqual({ status: 409, code: "CONFLICT" });
    expect(hook.calls).toHaveLength(0);

    await patch(true);
    expect((await retry()).status).toBe(202);
    await hook.waitForCalls(1);
    expect(JSON.parse(hook.calls[0]?.body ?? "")).toMatchObject({ data: { id } });
    await waitForStates(customer, webhook, ["succeeded"]);
  });
});
