import { callCarrier, outcomeOfStatus, type CallOptions, type CarrierResponse } from "./call.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import type { CredentialsOf } from "./credentials.ts";
import type { SettingsOf } from "./settings.ts";

/*
 * Kannel, the bridge to SMPP, over the sendsms interface of its smsbox. Kannel stores each accepted message and submits
 * it itself, so a second submission would send it twice. This also applies while its link is down. Kannel then buffers
 * the message, which counts as a failure for the breaker, so that later messages go to the next carrier.
 */

/**
 * The receipts that state an end: 1 delivered, 2 not delivered, and 16 rejected by the SMSC. The others would double the
 * requests of Kannel, which come from one address.
 */
const finalReceipts = "19";

/** The placeholders that Kannel fills in for a receipt: the event, and the text of the SMSC. */
const receiptFields = "&type=%d&answer=%A";

/** Submits a message to Kannel. @throws Error when it is not known whether Kannel accepted it */
export async function sendWithKannel(
  settings: SettingsOf<"kannel">,
  { username, password }: CredentialsOf<"kannel">,
  message: AddressedMessage,
  options?: CallOptions,
): Promise<SubmitResult> {
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
      : { "dlr-mask": finalReceipts, "dlr-url": `${message.callbackUrl}${receiptFields}` }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return submitResultOf(await callCarrier({ url, method: "GET" }, options));
}

/** Kannel expects whole minutes, and 0 means none. The last minute of a message therefore counts as one. */
function minutesOf(seconds: number): string {
  return String(Math.max(1, Math.floor(seconds / 60)));
}

/** The code at the start of Kannel's responses, such as in "3: Queued for later delivery". */
const leadingCode = /^\s*(\d{1,3}):/;

/** The code for a message that Kannel buffers because no link can send it now. */
const queued = "3";

function submitResultOf(response: CarrierResponse): SubmitResult {
  const { status, text, retryAfterSeconds } = response;
  const code = leadingCode.exec(text)?.[1];
  const providerCode = code === undefined ? `HTTP${status}` : `HTTP${status}.${code}`;
  switch (status) {
    case 202:
      return code === queued
        ? { outcome: "accepted", isBuffered: true, providerCode }
        : { outcome: "accepted" };
    case 400:
      return {
        outcome: "rejected",
        // Kannel names the field in a sentence: "Garbage 'to' field", "Empty receiver number".
        errorCode: /'to'|receiver/i.test(text) ? "MESSAGE_INVALID_DESTINATION" : "MESSAGE_PROVIDER_ERROR",
        providerCode,
      };
    case 403:
      // This status has two meanings: no link accepts the number, or the credentials are wrong.
      return /not routable/i.test(text)
        ? { outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE", providerCode }
        : outcomeOfStatus(response, providerCode);
    default:
      // The bearerbox's own temporary rejection. A proxy before Kannel may return 503 after it has forwarded the
      // message.
      if (status === 503 && /temporal failure/i.test(text)) {
        return { outcome: "throttled", retryAfterSeconds, providerCode };
      }
      return outcomeOfStatus(response, providerCode);
  }
}
