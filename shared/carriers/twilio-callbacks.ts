import { createHmac, timingSafeEqual } from "node:crypto";

import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../api/contract/sms.ts";
import {
  inboundMessage,
  InboundText,
  pictureNote,
  type Fields,
  type CallbackReader,
} from "./callback-reader.ts";
import { providerCodeOf } from "./provider-code.ts";

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
const errorCodes: ReadonlyMap<string, DeliveryErrorCode> = new Map([
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

export const twilioCallbacks: CallbackReader = {
  receipt: (fields) => {
    const parsed = ReceiptFields.safeParse(fields);
    if (!parsed.success) return undefined;
    const { MessageStatus: status, ErrorCode = "" } = parsed.data;
    if (status === "delivered" || status === "read") return { status: "delivered" };
    if (status !== "canceled" && status !== "failed" && status !== "undelivered")
      return { status: "pending" };
    const errorCode = errorCodes.get(ErrorCode) ?? "DELIVERY_FAILED";
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

/**
 * Whether Twilio has signed a call: over the address as it was given to Twilio, and the form's fields sorted by name
 * (https://www.twilio.com/docs/usage/security#validating-requests).
 */
export function isSignedByTwilio(
  { url, fields, signature }: { readonly url: string; readonly fields: Fields; readonly signature: string },
  authToken: string,
): boolean {
  const signed = Object.keys(fields)
    .toSorted()
    .reduce((text, name) => `${text}${name}${String(fields[name])}`, url);
  const expected = createHmac("sha1", authToken).update(signed).digest();
  const given = Buffer.from(signature, "base64");
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}
