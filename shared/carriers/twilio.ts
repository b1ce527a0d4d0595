import * as z from "zod/mini";

import type { MessageErrorCode } from "../api/contract/sms.ts";
import {
  callCarrier,
  NoOutcomeError,
  outcomeOfStatus,
  valueAt,
  type CallOptions,
  type CarrierResponse,
} from "./call.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import type { CredentialsOf } from "./credentials.ts";
import { providerCodeOf } from "./provider-code.ts";
import { withPlusSign } from "./sender-number.ts";
import type { SettingsOf } from "./settings.ts";

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

/** Submits a message to Twilio. @throws Error when it is not known whether Twilio accepted it */
export async function sendWithTwilio(
  settings: SettingsOf<"twilio">,
  { accountSid, authToken }: CredentialsOf<"twilio">,
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
