import * as z from "zod/mini";

import { plainText } from "../api/contract/plain-text.ts";
import type { DeliveryErrorCode, DeliveryStatus } from "../api/contract/sms.ts";
import { possibleNumber, writtenNumber } from "../api/contract/written-numbers.ts";

/** A delivery receipt, as read from a callback. */
export interface CallbackReceipt {
  /** The message's reference, where the receipt has it in a field. */
  readonly reference?: string | undefined;
  /** `pending` stands for all intermediate statuses. */
  readonly status: z.infer<typeof DeliveryStatus>;
  readonly errorCode?: DeliveryErrorCode | undefined;
  /** The carrier's own code for the failure: see `providerCodeOf`. */
  readonly providerCode?: string | undefined;
}

/** An inbound message, as read from a callback. */
interface CallbackInboundMessage {
  readonly carrierId?: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** The fields of a carrier callback. */
export type Fields = Readonly<Record<string, unknown>>;

/** A reader for the callbacks of one kind of carrier. It returns undefined for fields that it cannot read. */
export interface CallbackReader {
  readonly receipt: (fields: Fields) => CallbackReceipt | undefined;
  /** @param queryString of the call, which has the bytes of the carrier's own charset */
  readonly inbound: (fields: Fields, queryString?: string) => CallbackInboundMessage | undefined;
}

/** Reads a number that may have no country code, by the country in the carrier's settings. */
export type NumberOfCountry = (text: string) => string | undefined;

/** Returns the reader of numbers of a country. It has the patterns of all countries, so it is loaded on demand. */
export async function numbersOf(country: string | undefined): Promise<NumberOfCountry | undefined> {
  if (country === undefined) return undefined;
  const { numberOfCarrier } = await import("../api/read-number.ts");
  return (text) => numberOfCarrier(text, country);
}

/** Returns an inbound message whose sender and receiver could be read; undefined for another. */
export function inboundMessage(
  {
    from,
    to,
    ...rest
  }: Pick<CallbackInboundMessage, "carrierId" | "message"> &
    Partial<Record<"from" | "to", string | undefined>>,
  read?: NumberOfCountry,
): CallbackInboundMessage | undefined {
  const [sender, receiver = ""] = [addressOf(from, read), addressOf(to, read)];
  // The receiver is a number of the gateway, which has no name.
  if (sender === undefined || !/^\d{3,15}$/.test(receiver)) return undefined;
  return { ...rest, from: sender, to: receiver };
}

/** The fewest digits of a phone number. Fewer are a short code. */
const shortestNumber = 7;

/** The most characters of a sender's name that are kept. */
const maxNameLength = 20;

/**
 * Reads the sender of a message as carriers write it: a phone number, which becomes international digits, a short code, or a
 * name.
 * @returns undefined for a number without its country code, and for a text that no one sees
 */
function addressOf(value: string | undefined, read?: NumberOfCountry): string | undefined {
  const text = plainText(value ?? "").trim();
  const written = writtenNumber(text);
  const isNumber = "form" in written && written.digits.length >= shortestNumber;
  if (!isNumber) {
    if (/\p{Cc}/u.test(text) || !/[\p{L}\p{N}]/u.test(text)) return undefined;
    return /^\+?\d+$/.test(text) ? text.replace("+", "") : text.slice(0, maxNameLength);
  }
  const { form, digits } = written;
  if (form === "international" || (form === "bare" && read === undefined)) {
    return possibleNumber(digits) ?? (digits.length <= maxDigits ? digits : undefined);
  }
  return read?.(text);
}

/** The most digits of a phone number (ITU-T E.164). */
const maxDigits = 15;

/** The text of an inbound message, with a limit above the longest SMS. */
export const InboundText = z.string().check(z.maxLength(4_000));

/** Returns what the text of an inbound message has in place of its pictures. It is no part of a command. */
export function pictureNote(count: number): string {
  return `[${count === 1 ? "1 picture" : `${count} pictures`}, not received]`;
}
