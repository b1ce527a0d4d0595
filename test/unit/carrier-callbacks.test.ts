import { createHmac } from "node:crypto";

import { describe, expect, it } from "vitest";

import { awsCallbacks } from "../../shared/carriers/aws.ts";
import type { Fields } from "../../shared/carriers/callback-reader.ts";
import { httpCallbacks } from "../../shared/carriers/http.ts";
import { kannelCallbacks } from "../../shared/carriers/kannel.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { twilioCallbacks } from "../../shared/carriers/twilio.ts";
import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import { messageOf } from "../../shared/messages/callbacks/reference.ts";

const kannel = await kannelCallbacks.reader({ kind: "kannel", url: "https://carrier.example/send" });
const twilio = twilioCallbacks.reader();
const aws = awsCallbacks.reader();

const delivered = { status: "delivered" };
const pending = { status: "pending" };
const unknown = { status: "unknown" };
const undelivered = (errorCode: string, providerCode?: string) => ({
  status: "undelivered",
  errorCode,
  ...(providerCode === undefined ? {} : { providerCode }),
});

describe("a receipt of Kannel's", () => {
  it.each([
    ["8", "ACK/", pending],
    ["4", "id:1 stat:ACCEPTD err:000", pending],
    ["1", "id:1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:hi", delivered],
    ["2", "id:1 stat:UNDELIV err:001", undelivered("DELIVERY_FAILED", "UNDELIV.001")],
    ["2", "id:1 stat:REJECTD err:001", undelivered("DELIVERY_REJECTED", "REJECTD.001")],
    ["2", "id:1 stat:EXPIRED err:001", undelivered("DELIVERY_EXPIRED", "EXPIRED.001")],
    ["2", "id:1 stat:UNKNOWN err:001", unknown],
    ["34", "id:1 stat:EXPIRED err:001", undelivered("DELIVERY_EXPIRED", "EXPIRED.001")],
    ["34", undefined, undelivered("DELIVERY_EXPIRED")],
    [
      "16",
      "NACK/0x0000000b/Invalid Destination Address",
      undelivered("DELIVERY_INVALID_DESTINATION", "0x0000000b"),
    ],
    ["16", "NACK/0x00000045/Submit failed", undelivered("DELIVERY_REJECTED", "0x00000045")],
    ["16", "NACK/", undelivered("DELIVERY_REJECTED")],
  ])("of the type %s with the text %s is understood", (type, answer, expected) => {
    expect(kannel.receipt({ type, answer })).toEqual(expected);
  });

  it.each([{}, { type: "x" }, { type: "" }, { type: "0" }, { type: "64" }, { type: "1.5" }, { type: "-1" }])(
    "that is garbage is not: %s",
    (fields) => {
      expect(kannel.receipt(fields)).toBeUndefined();
    },
  );
});

describe("a receipt of Twilio's", () => {
  it.each([
    ["accepted", undefined, pending],
    ["queued", undefined, pending],
    ["sending", undefined, pending],
    ["sent", undefined, pending],
    ["delivered", undefined, delivered],
    ["read", undefined, delivered],
    ["undelivered", "30003", undelivered("DELIVERY_UNREACHABLE", "30003")],
    ["undelivered", "30005", undelivered("DELIVERY_INVALID_DESTINATION", "30005")],
    ["undelivered", "30007", undelivered("DELIVERY_REJECTED", "30007")],
    ["failed", "30008", undelivered("DELIVERY_FAILED", "30008")],
    ["failed", undefined, undelivered("DELIVERY_FAILED")],
    ["canceled", undefined, undelivered("DELIVERY_FAILED")],
  ])("of the status %s with the code %s is understood", (MessageStatus, ErrorCode, expected) => {
    expect(twilio.receipt({ MessageSid: "SM1", MessageStatus, ErrorCode })).toEqual(expected);
  });

  it("that is garbage is not", () => {
    expect(twilio.receipt({ MessageStatus: "boiled" })).toEqual({ status: "pending" });
    expect(twilio.receipt({})).toBeUndefined();
  });
});

it("a signature of Twilio's is the one of its own documentation, and no other", () => {
  // https://www.twilio.com/docs/usage/security, "An example of validating a request"
  const fields = {
    CallSid: "CA1234567890ABCDE",
    Caller: "+14158675309",
    Digits: "1234",
    From: "+14158675309",
    To: "+18005551212",
  };
  const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
  const signature = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";
  const isSigned = (
    { signature: each, ...call }: { url: string; fields: Fields; signature: string },
    authToken: string,
  ): boolean => twilioCallbacks.isSigned({ ...call, headers: { "x-twilio-signature": each } }, authToken);
  expect(isSigned({ url, fields, signature }, "12345")).toBe(true);
  // A form has its fields in any order, and the signature has them by their names.
  const turned = Object.fromEntries(Object.entries(fields).toReversed());
  expect(isSigned({ url, fields: turned, signature }, "12345")).toBe(true);
  expect(isSigned({ url, fields, signature }, "12346")).toBe(false);
  expect(isSigned({ url, fields: { ...fields, Digits: "1235" }, signature }, "12345")).toBe(false);
  expect(isSigned({ url: `${url}3`, fields, signature }, "12345")).toBe(false);
  expect(isSigned({ url, fields, signature: "" }, "12345")).toBe(false);
  const other = createHmac("sha1", "12345").update(url).digest("base64");
  expect(isSigned({ url, fields: {}, signature: other }, "12345")).toBe(true);
});

describe("an event of AWS's", () => {
  const reference = "org_01J00000000000000000000000.msg_01J00000000000000000000000";
  const event = (eventType: string, isFinal = true) =>
    aws.receipt({
      eventType,
      eventVersion: "1.0",
      isFinal,
      destinationPhoneNumber: "+15005550000",
      messageId: "1",
      context: { reference },
    });

  it.each([
    ["TEXT_QUEUED", false, pending],
    ["TEXT_PENDING", false, pending],
    ["TEXT_SENT", false, pending],
    ["TEXT_SUCCESSFUL", false, pending],
    ["TEXT_SUCCESSFUL", true, unknown],
    ["TEXT_UNKNOWN", true, unknown],
    ["TEXT_DELIVERED", true, delivered],
    ["TEXT_UNREACHABLE", true, undelivered("DELIVERY_UNREACHABLE", "TEXT_UNREACHABLE")],
    ["TEXT_CARRIER_BLOCKED", true, undelivered("DELIVERY_REJECTED", "TEXT_CARRIER_BLOCKED")],
    ["TEXT_TTL_EXPIRED", true, undelivered("DELIVERY_EXPIRED", "TEXT_TTL_EXPIRED")],
    ["TEXT_INVALID", true, undelivered("DELIVERY_INVALID_DESTINATION", "TEXT_INVALID")],
    ["TEXT_SOMETHING_NEW", true, undelivered("DELIVERY_FAILED", "TEXT_SOMETHING_NEW")],
  ])("of the type %s, final %s, is understood", (eventType, isFinal, expected) => {
    expect(event(eventType, isFinal)).toEqual({ ...expected, reference });
  });

  it("that is a message from a phone is one", () => {
    const inbound = {
      originationNumber: "+14255550182",
      destinationNumber: "+12125550101",
      messageKeyword: "JOIN",
      messageBody: "EXAMPLE",
      inboundMessageId: "cae173d2-66b9-564c-8309-21f858e9fb84",
      previousPublishedMessageId: "wJalrXUtnFEMI",
    };
    expect(aws.inbound(inbound)).toEqual({
      carrierId: inbound.inboundMessageId,
      from: "14255550182",
      to: "12125550101",
      message: "EXAMPLE",
    });
    expect(aws.receipt(inbound)).toBeUndefined();
    expect(QueuedCallback.parse(inbound)).toEqual({ kind: "aws", fields: inbound });
  });

  it("about a message that the account sent without the gateway is ignored", async () => {
    const sent = { eventType: "TEXT_DELIVERED", isFinal: true };
    for (const fields of [sent, { ...sent, context: {} }, { ...sent, context: { reference: "other" } }]) {
      expect(await recordCallback(QueuedCallback.parse(fields), new Date())).toBeUndefined();
    }
  });

  it.each([{}, { eventTypes: [] }, { originationNumber: "+14255550182" }])(
    "that cannot be read comes again: %j",
    async (fields) => {
      await expect(recordCallback(QueuedCallback.parse(fields), new Date())).rejects.toThrow(
        "cannot be read",
      );
    },
  );
});

describe("a job of the callback queue that this version cannot read", () => {
  const at = "2026-03-01T10:00:00.000Z";
  const reply = {
    kind: "inbound",
    callbackId: "inb_1",
    carrier: "kannel",
    carrierId: "1",
    from: "1",
    to: "2",
    receivedAt: at,
  };
  const receipt = {
    kind: "receipt",
    carrier: "kannel",
    organizationId: "org_1",
    messageId: "msg_1",
    status: "delivered",
    at,
  };

  it.each([
    ["an inbound message with another field for its text", { ...reply, text: "STOP" }],
    ["a receipt with an unknown error code", { ...receipt, errorCode: "DELIVERY_SOMETHING_NEW" }],
    ["an unknown kind", { ...receipt, kind: "call" }],
  ])("comes again and is parked: %s", (_, job) => {
    expect(QueuedCallback.safeParse(job).success).toBe(false);
  });
});

describe("a callback of any carrier over HTTP", async () => {
  const settings = CarrierSettings.parse({
    kind: "http",
    url: "https://carrier.example/send",
    responses: [{ meaning: "accepted", statuses: [200] }],
    receipts: {
      statusPath: "results.0.status",
      delivered: ["DELIVERED", "1"],
      undelivered: ["FAILED"],
      unknown: ["LOST"],
      referencePath: "results.0.ref",
      errorPath: "results.0.why",
      errors: { off: "DELIVERY_UNREACHABLE" },
    },
    inbound: { fromPath: "msisdn", toPath: "short", textPath: "text", idPath: "id" },
  });
  if (settings.kind !== "http") throw new Error("the settings are of another kind");
  const { receipt, inbound } = await httpCallbacks.reader(settings);

  it.each([
    [
      { status: "DELIVERED", ref: "r" },
      { ...delivered, reference: "r" },
    ],
    [
      { status: 1, ref: "r" },
      { ...delivered, reference: "r" },
    ],
    [
      { status: "FAILED", ref: "r", why: "off" },
      { ...undelivered("DELIVERY_UNREACHABLE", "off"), reference: "r" },
    ],
    [
      { status: "FAILED", ref: "r", why: "constructor" },
      { ...undelivered("DELIVERY_FAILED", "constructor"), reference: "r" },
    ],
    // Words are no code.
    [{ status: "FAILED", why: "it was off" }, undelivered("DELIVERY_FAILED")],
    [{ status: "LOST" }, unknown],
    [{ status: "ON ITS WAY" }, pending],
  ])("is understood by its settings: %s", (result, expected) => {
    expect(receipt({ results: [result] })).toEqual(expected);
  });

  it("is not when it has nothing where it should", () => {
    expect(receipt({ results: [] })).toBeUndefined();
    expect(receipt({ results: [{ status: { deep: true } }] })).toBeUndefined();
    expect(receipt({})).toBeUndefined();
    expect(inbound({ msisdn: "+447700900123", short: "90909" })).toBeUndefined();
    expect(inbound({ msisdn: "+447700900123", short: "not a number", text: "hi" })).toBeUndefined();
  });

  it("brings messages from phones", () => {
    expect(inbound({ msisdn: "+447700900123", short: 90_909, text: "Héllo", id: 7 })).toEqual({
      carrierId: "7",
      from: "447700900123",
      to: "90909",
      message: "Héllo",
    });
  });
});

it("a message from a phone is read as Kannel and Twilio write it", () => {
  expect(
    kannel.inbound({
      from: "+447700900123",
      to: "90909",
      text: "Grüße",
      id: "6ed5-1",
      charset: "UTF-8",
    }),
  ).toEqual({ carrierId: "6ed5-1", from: "447700900123", to: "90909", message: "Grüße" });
  expect(twilio.inbound({ MessageSid: "SM1", From: "+447700900123", To: "+12025550100", Body: "" })).toEqual({
    carrierId: "SM1",
    from: "447700900123",
    to: "12025550100",
    message: "",
  });
  const picture = { MessageSid: "SM1", From: "+447700900123", To: "+12025550100", NumMedia: "1" };
  expect(twilio.inbound(picture)?.message).toBe("[1 picture, not received]");
});

it("a reference names a message, or nothing", () => {
  const organizationId = "org_01J00000000000000000000000";
  const messageId = "msg_01J000000000000000000000003";
  expect(messageOf(`${organizationId}.${messageId}`)).toEqual({ organizationId, messageId });
  for (const other of [
    undefined,
    "",
    messageId,
    `${organizationId}.`,
    `${organizationId}.${messageId}.x`,
    "a.b",
  ]) {
    expect(messageOf(other)).toBeUndefined();
  }
});
