import { createHmac } from "node:crypto";

import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";

import {
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from "../../shared/api/client/verify-webhook.ts";

const secret = `whsec_${Buffer.from("an example of a signing secret..").toString("base64")}`;
const otherSecret = `whsec_${Buffer.from("another secret of a webhook.....").toString("base64")}`;
const event = { event: "message.sent", data: { id: "msg_1", text: "Grüße" } };
const payload = JSON.stringify(event);
const sentAt = new Date("2026-01-05T09:30:00.000Z");
const now = (): number => sentAt.getTime();

/** The headers of Standard Webhooks, signed by its own library. */
const standard = (by = secret): Record<string, string> => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": String(sentAt.getTime() / 1_000),
  "webhook-signature": new Webhook(by).sign("evt_1", sentAt, payload),
});
const service = (by = secret): Record<string, string> => ({
  "X-Service-Signature": createHmac("sha256", by).update(payload).digest("hex"),
});

describe("verifyWebhook", () => {
  it("accepts both signatures, bodies as text and bytes, and headers of any kind", async () => {
    const bytes = new TextEncoder().encode(payload);
    for (const headers of [standard(), service(), { ...standard(), ...service() }]) {
      const call = { payload, headers, secret, now, allowUnsignedTime: true };
      expect(await verifyWebhook(call)).toEqual(event);
      expect(await verifyWebhook({ ...call, payload: bytes, headers: new Headers(headers) })).toEqual(event);
    }
    const ofNode = { ...standard(), "webhook-id": ["evt_1"], other: undefined };
    expect(await verifyWebhook({ payload, headers: ofNode, secret, now })).toEqual(event);
  });

  it("accepts each of two secrets, and one of two signatures, during a rotation", async () => {
    expect(await verifyWebhook({ payload, headers: standard(), secret: [otherSecret, secret], now })).toEqual(
      event,
    );
    const both = `${standard(otherSecret)["webhook-signature"]} ${standard()["webhook-signature"]}`;
    const headers = { ...standard(), "webhook-signature": both };
    expect(await verifyWebhook({ payload, headers, secret, now })).toEqual(event);
  });

  it.each([
    ["a changed body", { payload: `${payload} ` }],
    ["another secret", { secret: otherSecret }],
    ["an empty secret", { secret: "" }],
    ["no signature", { headers: {} }],
    ["a signature that is not Base64", { headers: { ...standard(), "webhook-signature": "v1,?" } }],
    ["a signature that is not hex", { headers: { "X-Service-Signature": "zz" } }],
    ["a changed id", { headers: { ...standard(), "webhook-id": "evt_2" } }],
    ["a time that is no number", { headers: { ...standard(), "webhook-timestamp": "soon" } }],
    ["a call from the past", { now: () => sentAt.getTime() + 301_000 }],
    ["any call with a tolerance that is no number", { toleranceSeconds: Number.NaN }],
    ["a call from the future", { now: () => sentAt.getTime() - 301_000 }],
    [
      "a wrong standard signature beside the right one of the service",
      { headers: { ...standard(otherSecret), ...service() } },
    ],
    ["a recorded call without its signed time", { headers: service() }],
    ["such a call with a tolerance", { headers: service(), toleranceSeconds: 60 }],
  ])("rejects %s", async (_, changes) => {
    const verified = verifyWebhook({ payload, headers: standard(), secret, now, ...changes });
    await expect(verified).rejects.toThrow(WebhookVerificationError);
  });

  it("accepts calls that signWebhook signs for tests, with both signatures", async () => {
    const headers = await signWebhook({ payload, secret, id: "evt_1", now });
    expect(headers).toMatchObject({ "X-Service-Event": event.event, ...standard(), ...service() });
    expect(await verifyWebhook({ payload, headers, secret, now })).toEqual(event);
  });

  it("accepts an older call with a longer tolerance", async () => {
    const call = { payload, headers: standard(), secret, now: () => sentAt.getTime() + 500_000 };
    expect(await verifyWebhook({ ...call, toleranceSeconds: 600 })).toEqual(event);
  });
});
