import { createHmac } from "node:crypto";

import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";

import {
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
  type WebhookCall,
} from "../../shared/api/client/verify-webhook.ts";
import { isNightly } from "../support/second-opinions.ts";

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
    expect(
      await verifyWebhook({ payload, headers: standard(), secret: [otherSecret, `${secret}\n`], now }),
    ).toEqual(event);
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

  const signedBrace = { ...standard(), "webhook-signature": new Webhook(secret).sign("evt_1", sentAt, "{") };
  it.each([
    ["a parsed body", { payload: event }, "payload must be the raw body, before any parsing"],
    ["a signed body that is not JSON", { payload: "{", headers: signedBrace }, "is not JSON"],
    ["no headers", { headers: undefined }, "no signature"],
    ["no secret", { secret: undefined }, "the secret of the webhook is empty or malformed"],
  ])("explains a call of JavaScript with %s", async (_, changes, message) => {
    const call = { payload, headers: standard(), secret, now, ...changes };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JavaScript has no types.
    const verified = verifyWebhook(call as unknown as WebhookCall);
    await expect(verified).rejects.toThrow(message);
    await expect(verified).rejects.toThrow(WebhookVerificationError);
  });

  it("throws nothing but its own error, whatever comes", async () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("9".repeat(5_000), ..."\u0661 \ud800 v1, v1,==== v1,A,v1,B whsec_ -1 1e9".split(" ")),
      fc.anything({ withNullPrototype: true, withTypedArray: true, withSparseArray: true }),
    );
    const headers = { ...standard(), ...service() };
    const wrongHeaders = fc
      .dictionary(fc.constantFrom(...Object.keys(headers)), anything)
      .map((wrong) => ({ ...headers, ...wrong }));
    const calls = fc.record({
      payload: fc.oneof(fc.constant(payload), anything),
      headers: fc.oneof(wrongHeaders, anything),
      secret: fc.oneof(fc.constant(secret), anything, fc.array(anything)),
      allowUnsignedTime: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(calls, async (given) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JavaScript has no types.
        const verified = verifyWebhook({ ...given, now } as unknown as WebhookCall);
        const outcome = await verified.catch((error: unknown) => error);
        expect(outcome instanceof WebhookVerificationError || JSON.stringify(outcome) === payload).toBe(true);
      }),
      { numRuns: isNightly ? 2_000 : 100 },
    );
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
