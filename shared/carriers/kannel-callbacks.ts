import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../api/contract/sms.ts";
import { inboundMessage, InboundText, type CallbackReader, type NumberOfCountry } from "./callback-reader.ts";
import { providerCodeOf } from "./provider-code.ts";

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

export const kannelCallbacks = (read?: NumberOfCountry): CallbackReader => ({
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
