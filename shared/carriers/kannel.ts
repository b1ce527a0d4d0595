import { callCarrier, UnclearAnswerError, type CallOptions, type CarrierResponse } from "./call.ts";
import type { AddressedMessage, HandOff } from "./carrier.ts";
import type { CredentialsOf } from "./credentials.ts";
import type { SettingsOf } from "./settings.ts";

/*
 * Kannel, the bridge to SMPP, over the sendsms interface of its smsbox. What it has accepted it keeps and hands on by
 * itself, and asking it again would send twice. That is so, too, while its link is down: what it then takes is buffered,
 * which counts against it, so that the messages that follow go to the next carrier.
 */

/** All that Kannel can tell of a message: delivered, not delivered, buffered, taken and rejected by the carrier behind it. */
const allReceipts = "31";

/** What Kannel fills in when it calls back: what happened, and in which words. */
const receiptFields = "&type=%d&answer=%A";

/** Hands a message to Kannel. @throws Error when it is not known whether Kannel took it */
export async function sendWithKannel(
  settings: SettingsOf<"kannel">,
  { username, password }: CredentialsOf<"kannel">,
  message: AddressedMessage,
  options?: CallOptions,
): Promise<HandOff> {
  const url = new URL(settings.url);
  const parameters = {
    username,
    password,
    from: message.from,
    to: `+${message.to}`,
    text: message.text,
    charset: "UTF-8",
    coding: message.encoding === "UCS-2" ? "2" : "0",
    ...(settings.smsc === undefined ? {} : { smsc: settings.smsc }),
    ...(message.validitySeconds === undefined ? {} : { validity: minutesOf(message.validitySeconds) }),
    ...(message.callbackUrl === undefined
      ? {}
      : { "dlr-mask": allReceipts, "dlr-url": `${message.callbackUrl}${receiptFields}` }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return handOffOf(await callCarrier({ url, method: "GET" }, options));
}

/** Kannel takes whole minutes, and 0 for none at all: the last minute of a message counts as one. */
function minutesOf(seconds: number): string {
  return String(Math.max(1, Math.floor(seconds / 60)));
}

/** The code that Kannel begins its answers with, such as in "3: Queued for later delivery". */
const leadingCode = /^\s*(\d{1,3}):/;

/** Says that Kannel keeps the message because no link can send it now. */
const queued = "3";

function handOffOf({ status, text, retryAfterSeconds }: CarrierResponse): HandOff {
  const code = leadingCode.exec(text)?.[1];
  const providerCode = code === undefined ? `HTTP${status}` : `HTTP${status}.${code}`;
  switch (status) {
    case 202:
      return code === queued
        ? { outcome: "accepted", isBuffered: true, providerCode }
        : { outcome: "accepted" };
    case 400:
      return {
        outcome: "refused",
        // Kannel names the field in a sentence: "Garbage 'to' field", "Empty receiver number".
        errorCode: /'to'|receiver/i.test(text) ? "MESSAGE_INVALID_DESTINATION" : "MESSAGE_PROVIDER_ERROR",
        providerCode,
      };
    case 403:
      // It stands for two things: no link takes the number, or we are not let in.
      return /not routable/i.test(text)
        ? { outcome: "refused", errorCode: "MESSAGE_UNROUTABLE", providerCode }
        : { outcome: "notReached", reason: "TurnedAway403", providerCode };
    case 401:
    case 404:
      return { outcome: "notReached", reason: `TurnedAway${status}`, providerCode };
    case 429:
      return { outcome: "tryLater", retryAfterSeconds, providerCode };
    default:
      // The bearerbox's own rejection for now. What stands before Kannel may say 503 when it has handed it on.
      if (status === 503 && /temporal failure/i.test(text)) {
        return { outcome: "tryLater", retryAfterSeconds, providerCode };
      }
      throw new UnclearAnswerError(status);
  }
}
