import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../api/contract/sms.ts";
import { callCarrier, outcomeOfStatus, type CallOptions, type CarrierResponse } from "./call.ts";
import {
  inboundMessage,
  InboundText,
  numbersOf,
  type CallbackReader,
  type NumberOfCountry,
} from "./callback-reader.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import { SecretText } from "./credentials.ts";
import type { CalledCarrier, CarrierCallbacks, CarrierCalls } from "./kind.ts";
import { providerCodeOf } from "./provider-code.ts";
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

const Credentials = z.strictObject({ username: SecretText, password: SecretText });
type Credentials = z.infer<typeof Credentials>;

export const kannelCalls = { credentials: Credentials, submit } satisfies CarrierCalls<
  SettingsOf<"kannel">,
  Credentials
>;

async function submit(
  { settings, credentials }: CalledCarrier<SettingsOf<"kannel">, Credentials>,
  message: AddressedMessage,
  options?: CallOptions,
): Promise<SubmitResult> {
  const url = new URL(settings.url);
  const parameters = {
    ...credentials,
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

/*
 * The fields that Kannel fills into its callback addresses: `type=%d&answer=%A` for receipts, and
 * `from=%p&to=%P&text=%b&charset=%C&id=%I` for inbound messages.
 */

const maxAnswerLength = 1_000;

const ReceiptFields = z.object({
  type: z.coerce.number().check(z.int()),
  /** The state and the code are at the beginning of the SMSC's text. */
  answer: z._default(z.string().check(z.overwrite((text) => text.slice(0, maxAnswerLength))), ""),
});

const InboundFields = z.object({
  from: z.string(),
  to: z.string(),
  text: InboundText,
  charset: z._default(z.string(), "UTF-8"),
  id: z.optional(z.string().check(z.maxLength(100))),
});

/**
 * The bits of %d: 1 delivered, 2 not delivered, 4 buffered, 8 accepted and 16 rejected by the SMSC, 32 expired. One of
 * them is set.
 */
const delivered = 1;
const notDelivered = 2;
const rejected = 16;
const known = 63;

const readerWith = (read?: NumberOfCountry): CallbackReader => ({
  receipt: (fields) => {
    const parsed = ReceiptFields.safeParse(fields);
    if (!parsed.success) return undefined;
    const { type, answer } = parsed.data;
    if (type <= 0 || type > known) return undefined;
    if ((type & delivered) !== 0) return { status: "delivered" };
    const state = /\bstat:(\w+)/i.exec(answer)?.[1]?.toUpperCase();
    if (state === "UNKNOWN") return { status: "unknown" };
    if ((type & rejected) !== 0) {
      const providerCode = providerCodeOf(commandStatus.exec(answer)?.[0]);
      return { status: "undelivered", errorCode: errorOfRejection(answer), providerCode };
    }
    if ((type & notDelivered) === 0) return { status: "pending" };
    const error = networkError.exec(answer)?.[1];
    return {
      status: "undelivered",
      errorCode: type === notDelivered ? errorOfState(state) : "DELIVERY_EXPIRED",
      providerCode: providerCodeOf([state, error].filter((each) => each !== undefined).join(".")),
    };
  },
  inbound: (fields, queryString = "") => {
    const parsed = InboundFields.safeParse(fields);
    if (!parsed.success) return undefined;
    const { from, to, text, charset, id } = parsed.data;
    const [, encoded] = /(?:^|&)text=([^&]*)/.exec(queryString) ?? [];
    // A form is read already. So is UTF-8, if its bytes were UTF-8.
    const isRead = encoded === undefined || (/^utf-?8$/i.test(charset) && !text.includes("\uFFFD"));
    const message = isRead ? text : textIn(charset.toLowerCase(), encoded);
    return message === undefined ? undefined : inboundMessage({ carrierId: id, from, to, message }, read);
  },
});

export const kannelCallbacks = {
  receiptsPerSegment: 1,
  reader: async ({ country }) => readerWith(await numbersOf(country)),
} satisfies CarrierCallbacks<SettingsOf<"kannel">>;

/**
 * Decodes the text of a query string in the charset that its call names. Where there is no such charset, such as for `8-BIT`, or the
 * bytes are no text of it, it is UTF-8 or Windows-1252. Bytes that are no UTF-16 are no text: undefined.
 */
function textIn(charset: string, encoded: string): string | undefined {
  const bytes = Buffer.from(
    encoded
      .replaceAll("+", " ")
      .replaceAll(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCodePoint(Number.parseInt(byte, 16))),
    "latin1",
  );
  // An SMSC sends UCS-2 with the high byte first. For `TextDecoder`, that name is the other order.
  const charsets = /^(utf-16|(iso-10646-)?ucs-?2)/.test(charset)
    ? [charset.replace(/^(iso-10646-)?ucs-?2$/, "utf-16be")]
    : [charset, "utf-8", "windows-1252"];
  for (const each of charsets) {
    try {
      return new TextDecoder(each, { fatal: true }).decode(bytes);
    } catch {
      // The next one may fit.
    }
  }
  return undefined;
}

/** The command status of an SMSC's rejection, such as in "NACK/0x0000000b/Invalid Destination Address". */
const commandStatus = /\b0x[0-9a-f]{1,8}\b/i;

/** The code of the network in the text of a receipt (SMPP 3.4, appendix B). */
const networkError = /\berr:([0-9A-Za-z]{1,8})\b/i;

/** The command status of an SMSC for a wrong number (SMPP 3.4, 5.1.3: ESME_RINVDSTADR). */
const invalidDestination = /0x0*b\b/i;

function errorOfRejection(answer: string): DeliveryErrorCode {
  return invalidDestination.test(answer) ? "DELIVERY_INVALID_DESTINATION" : "DELIVERY_REJECTED";
}

/** The states of SMPP 3.4, 5.2.28, as the texts of receipts write them. */
function errorOfState(state: string | undefined): DeliveryErrorCode {
  if (state === "EXPIRED") return "DELIVERY_EXPIRED";
  return state === "REJECTD" ? "DELIVERY_REJECTED" : "DELIVERY_FAILED";
}
