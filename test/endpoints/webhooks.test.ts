import { createHmac } from "node:crypto";

import { afterEach, describe, expect, it } from "vitest";

import { CreatedWebhook, WebhookEvent, webhookHeaders } from "../../shared/contract/webhooks.ts";
import { call, Customer, dataOf, errorOf, invalidFields } from "../support/api.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

const receivers: WebhookReceiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map(async (started) => started.stop()));
});

async function receiver(): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver();
  receivers.push(started);
  return started;
}

async function register(customer: Customer, json: Record<string, unknown>): Promise<CreatedWebhook> {
  const response = await customer.call("/v1/webhooks", { json });
  expect(response.status).toBe(201);
  return dataOf(response, CreatedWebhook);
}

describe("webhook endpoints", () => {
  it("show their secret once and never again", async () => {
    const customer = await Customer.register();
    const webhook = await register(customer, { url: "https://example.com/hook" });
    expect(webhook.secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    const listed = await customer.call("/v1/webhooks");
    expect(listed.body).toMatchObject({
      data: [{ id: webhook.id, url: "https://example.com/hook", events: ["message.sent", "message.failed"] }],
      meta: { total: 1 },
    });
    expect(listed.text).not.toContain("secret");
  });

  it("are removed, once, and not by another organisation", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { id } = await register(owner, { url: "https://example.com/hook" });
    const remove = async (customer: Customer) => customer.call(`/v1/webhooks/${id}`, { method: "DELETE" });
    expect(errorOf(await remove(stranger))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect(await remove(owner)).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expect(errorOf(await remove(owner))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await owner.call("/v1/webhooks")).body).toMatchObject({ data: [] });
  });

  it.each([
    ["no url", {}, "url"],
    ["a url that is none", { url: "example" }, "url"],
    ["a url that is no web address", { url: "ftp://example.com" }, "url"],
    ["a url with a user name", { url: "https://user@example.com" }, "url"],
    ["a url with a password", { url: "https://:secret@example.com" }, "url"],
    ["a url without end", { url: `https://example.com/${"x".repeat(2_048)}` }, "url"],
    ["an unknown event", { url: "https://example.com", events: ["message.read"] }, "events.0"],
    ["an event twice", { url: "https://example.com", events: ["message.sent", "message.sent"] }, "events"],
    ["no event", { url: "https://example.com", events: [] }, "events"],
  ])("are refused with %s", async (_name, json, path) => {
    const customer = await Customer.register();
    const response = await customer.call("/v1/webhooks", { json });
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual([path]);
  });

  it("are told which events there are when they ask for an unknown one", async () => {
    const customer = await Customer.register();
    const response = await customer.call("/v1/webhooks", {
      json: { url: "https://example.com", events: ["message.read"] },
    });
    expect(response.text).toContain("message.sent");
    expect(response.text).toContain("message.failed");
  });
});

describe("webhook calls", () => {
  it("bring message.sent with the documented body, headers and signature", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    const { secret } = await register(customer, { url: hook.url });
    const { id, to } = await customer.send();
    await hook.waitForCalls(1);

    const [received] = hook.calls;
    const event: unknown = JSON.parse(received?.body ?? "");
    expect(WebhookEvent.parse(event)).toEqual(event);
    expect(event).toEqual({
      event: "message.sent",
      timestamp: (await customer.message(id)).sentAt,
      data: { id, to, status: "sent" },
    });
    const signature = createHmac("sha256", secret)
      .update(received?.body ?? "")
      .digest("hex");
    expect(received?.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "message.sent",
      "x-service-signature": signature,
    });
  });

  it("bring message.failed with a safe errorCode and without a status", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    await register(customer, { url: hook.url });
    const { id, to } = await customer.send({ to: "15005550006" });
    await hook.waitForCalls(1);
    expect(hook.calls[0]?.headers["x-service-event"]).toBe("message.failed");
    expect(JSON.parse(hook.calls[0]?.body ?? "")).toEqual({
      event: "message.failed",
      timestamp: (await customer.message(id)).failedAt,
      data: { id, to, errorCode: "MESSAGE_PROVIDER_ERROR" },
    });
  });

  it("carry every header that the contract names, in the form that it names", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    await register(customer, { url: hook.url });
    await customer.send();
    await hook.waitForCalls(1);
    for (const [name, schema] of Object.entries(webhookHeaders)) {
      const header = hook.calls[0]?.headers[name.toLowerCase()];
      expect(schema.safeParse(header).success, `${name}: ${String(header)}`).toBe(true);
    }
  });

  it("carry the headers of Standard Webhooks beside the spec's", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    const { secret } = await register(customer, { url: hook.url });
    const { id } = await customer.send();
    await hook.waitForCalls(1);
    const { headers, body = "" } = hook.calls[0] ?? {};
    expect(headers?.["webhook-id"]).toBe(id.replace("msg_", "evt_"));
    const signed = `${String(headers?.["webhook-id"])}.${String(headers?.["webhook-timestamp"])}.${body}`;
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const expected = createHmac("sha256", key).update(signed).digest("base64");
    expect(headers?.["webhook-signature"]).toBe(`v1,${expected}`);
  });

  it("go to every endpoint that subscribes to the event, and to no other", async () => {
    const [customer, stranger] = await Promise.all([
      Customer.register({ balance: 1 }),
      Customer.register({ balance: 1 }),
    ]);
    const [both, failedOnly, removed, strangers] = [
      await receiver(),
      await receiver(),
      await receiver(),
      await receiver(),
    ];
    await register(customer, { url: both.url });
    await register(customer, { url: failedOnly.url, events: ["message.failed"] });
    const gone = await register(customer, { url: removed.url });
    await customer.call(`/v1/webhooks/${gone.id}`, { method: "DELETE" });
    await register(stranger, { url: strangers.url });

    const sent = await customer.send();
    const failed = await customer.send({ to: "15005550001" });
    await both.waitForCalls(2);
    await failedOnly.waitForCalls(1);
    const idsOf = (hook: WebhookReceiver): string[] =>
      hook.calls.map(({ body }) => WebhookEvent.parse(JSON.parse(body)).data.id).toSorted();
    expect(idsOf(both)).toEqual([sent.id, failed.id].toSorted());
    expect(idsOf(failedOnly)).toEqual([failed.id]);
    // The stranger's own message is handled after all of the above, so what was to come has come.
    const own = await stranger.send();
    await strangers.waitForCalls(1);
    expect(idsOf(strangers)).toEqual([own.id]);
    expect(removed.calls).toHaveLength(0);
  });
});

describe("routes that do not exist", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/v1"],
    ["GET", "/v1/sms/send/more"],
    ["GET", "/v2/sms"],
    ["GET", "/v1/sms/../../etc/passwd"],
    ["GET", "//v1//sms"],
  ])("answer %s %s with our 404", async (method, path) => {
    expect(errorOf(await call(path, { method }))).toEqual({ status: 404, code: "NOT_FOUND" });
  });

  it.each([
    ["POST", "/health", "GET"],
    ["PUT", "/v1/wallet", "GET"],
    ["OPTIONS", "/v1/webhooks", "GET, POST"],
    ["PATCH", "/v1/webhooks/whk_any", "DELETE"],
  ])("answer %s %s with 405 and name the methods that are: %s", async (method, path, allow) => {
    const response = await call(path, { method });
    expect(errorOf(response)).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(response.headers.get("allow")).toBe(allow);
  });

  it("leave health alone, which needs no credential", async () => {
    expect(await call("/health")).toMatchObject({ status: 200, body: { data: { status: "ok" } } });
  });
});
