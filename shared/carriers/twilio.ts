import { createHmac, timingSafeEqual } from "node:crypto";

import * as z from "zod/mini";

import type { DeliveryErrorCode, MessageErrorCode } from "../api/contract/sms.ts";
import {
  callCarrier,
  NoOutcomeError,
  outcomeOfStatus,
  type CallOptions,
  type CarrierResponse,
} from "./call.ts";
import { inboundMessage, InboundText, pictureNote, type CallbackReader } from "./callback-reader.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import { SecretText } from "./credentials.ts";
import type { CalledCarrier, CarrierCallbacks, CarrierCalls, SignedCall } from "./kind.ts";
import { providerCodeOf } from "./provider-code.ts";
import { withPlusSign } from "./sender-number.ts";
import type { SettingsOf } from "./settings.ts";
import { valueAt } from "./value-at.ts";

/*
 * The Messages interface of Twilio, which other providers have too. Its error codes:
 * https://www.twilio.com/docs/api/errors
 */

/** The codes of messages that Twilio rejected for good. All other codes of a 400 mean another error in the message. */
const rejections: ReadonlyMap<number, MessageErrorCode> = new Map([
  // Not a phone number, not a mobile one, a short code.
  [21211, "MESSAGE_INVALID_DESTINATION"],
  [21217, "MESSAGE_INVALID_DESTINATION"],
  [21265, "MESSAGE_INVALID_DESTINATION"],
  [21614, "MESSAGE_INVALID_DESTINATION"],
  // A country that is not enabled for the account, and a number without a route.
  [21408, "MESSAGE_UNROUTABLE"],
  [21612, "MESSAGE_UNROUTABLE"],
  // The recipient has replied STOP.
  [21610, "MESSAGE_RECIPIENT_OPTED_OUT"],
]);

/** The codes for a rate limit and for a full queue. */
const laterCodes: ReadonlySet<number> = new Set([14107, 20429, 21611]);

/** The longest ValidityPeriod of Twilio, which is also its default: ten hours. */
const maxValidityPeriod = 36_000;

const Credentials = z.strictObject({
  accountSid: SecretText.check(z.regex(/^[A-Za-z0-9]+$/, "must be letters and digits")),
  authToken: SecretText,
});
type Credentials = z.infer<typeof Credentials>;

export const twilioCalls = { credentials: Credentials, submit } satisfies CarrierCalls<
  SettingsOf<"twilio">,
  Credentials
>;

async function submit(
  { settings, credentials: { accountSid, authToken } }: CalledCarrier<SettingsOf<"twilio">, Credentials>,
  message: AddressedMessage,
  options?: CallOptions,
): Promise<SubmitResult> {
  const base = settings.url.replace(/(?<!\/)\/+$/, "");
  const sender =
    message.isFromNumber === true
      ? { From: withPlusSign(message.from) }
      : settings.messagingServiceSid === undefined
        ? { From: message.from }
        : { MessagingServiceSid: settings.messagingServiceSid };
  const body = new URLSearchParams({
    To: `+${message.to}`,
    ...sender,
    Body: message.text,
    ...(message.validitySeconds === undefined
      ? {}
      : { ValidityPeriod: String(Math.min(message.validitySeconds, maxValidityPeriod)) }),
    ...(message.callbackUrl === undefined ? {} : { StatusCallback: message.callbackUrl }),
  });
  const response = await callCarrier(
    {
      url: new URL(`${base}/2010-04-01/Accounts/${accountSid}/Messages.json`),
      method: "POST",
      headers: {
        Authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`,
        "Content-Type": "application/x-www-form-urlencoded",
        Accept: "application/json",
      },
      body: body.toString(),
    },
    options,
  );
  return submitResultOf(response);
}

const Sid = z.string().check(z.minLength(1), z.maxLength(256));

function submitResultOf(response: CarrierResponse): SubmitResult {
  const { status, text, retryAfterSeconds } = response;
  if (status === 200 || status === 201) {
    const sid = Sid.safeParse(valueAt(text, "sid"));
    // Without the id of a message the response is not from Twilio, whatever its status is.
    if (!sid.success) throw new NoOutcomeError(status);
    return { outcome: "accepted", carrierReference: sid.data };
  }
  const given = valueAt(text, "code");
  const code = Number(given);
  const providerCode = providerCodeOf(given) ?? `HTTP${status}`;
  // Other providers with this interface reject a message with 422.
  const isOfMessage = status === 400 || status === 422;
  if (isOfMessage && laterCodes.has(code)) {
    return { outcome: "throttled", retryAfterSeconds, providerCode };
  }
  if (isOfMessage || (status === 403 && rejections.has(code))) {
    return { outcome: "rejected", errorCode: rejections.get(code) ?? "MESSAGE_PROVIDER_ERROR", providerCode };
  }
  return outcomeOfStatus(response, providerCode);
}

const ReceiptFields = z.object({
  /** A status that Twilio adds is no final one. */
  MessageStatus: z.string().check(z.minLength(1), z.maxLength(50)),
  ErrorCode: z.optional(z.coerce.string().check(z.maxLength(10))),
});

const InboundFields = z.object({
  MessageSid: z.string().check(z.minLength(1), z.maxLength(64)),
  From: z.string(),
  To: z.string(),
  /** A message that has only pictures may have none. */
  Body: z._default(InboundText, ""),
  NumMedia: z._default(z.coerce.number(), 0),
});

/** The delivery errors for Twilio's error codes (https://www.twilio.com/docs/api/errors). */
const deliveryErrors: ReadonlyMap<string, DeliveryErrorCode> = new Map([
  ["21610", "DELIVERY_REJECTED"],
  ["21211", "DELIVERY_INVALID_DESTINATION"],
  ["21614", "DELIVERY_INVALID_DESTINATION"],
  ["30003", "DELIVERY_UNREACHABLE"],
  ["30004", "DELIVERY_REJECTED"],
  ["30005", "DELIVERY_INVALID_DESTINATION"],
  ["30006", "DELIVERY_INVALID_DESTINATION"],
  ["30007", "DELIVERY_REJECTED"],
  ["30034", "DELIVERY_REJECTED"],
  ["30036", "DELIVERY_EXPIRED"],
]);

const reader: CallbackReader = {
  receipt: (fields) => {
    const parsed = ReceiptFields.safeParse(fields);
    if (!parsed.success) return undefined;
    const { MessageStatus: status, ErrorCode = "" } = parsed.data;
    if (status === "delivered" || status === "read") return { status: "delivered" };
    if (status !== "canceled" && status !== "failed" && status !== "undelivered")
      return { status: "pending" };
    const errorCode = deliveryErrors.get(ErrorCode) ?? "DELIVERY_FAILED";
    return { status: "undelivered", errorCode, providerCode: providerCodeOf(ErrorCode) };
  },
  inbound: (fields) => {
    const parsed = InboundFields.safeParse(fields);
    if (!parsed.success) return undefined;
    const { MessageSid, From, To, Body, NumMedia } = parsed.data;
    const message = NumMedia > 0 ? `${Body} ${pictureNote(NumMedia)}`.trimStart() : Body;
    return inboundMessage({ carrierId: MessageSid, from: From, to: To, message });
  },
};

export const twilioCallbacks = {
  receiptsPerSegment: 2,
  reader: () => reader,
  isSigned,
} satisfies CarrierCallbacks<SettingsOf<"twilio">>;

/**
 * Whether Twilio has signed a call: over the address as it was given to Twilio, and the form's fields sorted by name
 * (https://www.twilio.com/docs/usage/security#validating-requests).
 */
function isSigned({ url, fields, headers }: SignedCall, authToken: string): boolean {
  const { "x-twilio-signature": signature = "" } = headers;
  const signed = Object.keys(fields)
    .toSorted()
    .reduce((text, name) => `${text}${name}${String(fields[name])}`, url);
  const expected = createHmac("sha1", authToken).update(signed).digest();
  const given = Buffer.from(signature, "base64");
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}
