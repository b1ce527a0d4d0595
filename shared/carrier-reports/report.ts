import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../contract/sms.ts";
import type { FinalDelivery } from "../messages/record.ts";

/** What a carrier says of a message in one call. */
export interface ReportedReceipt {
  /** Our reference of it, where the carrier brings it along in a field of its own. */
  readonly reference?: string | undefined;
  /** `pending` is everything that is not the end. */
  readonly status: FinalDelivery | "pending";
  readonly errorCode?: DeliveryErrorCode | undefined;
  /** The carrier's own code of the failure: see `providerCodeOf`. */
  readonly providerCode?: string | undefined;
}

/** A message from a phone, as its carrier brings it. */
export interface ReportedReply {
  readonly carrierId?: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** A call of a carrier, by its fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads what the calls of carriers of one kind say; undefined is what cannot be understood. */
export interface ReportReader {
  readonly receipt: (fields: Fields) => ReportedReceipt | undefined;
  readonly reply: (fields: Fields) => ReportedReply | undefined;
}

/** A number as carriers write it, with or without a plus sign, as ours in digits; a name stays one. */
export const Address = z.pipe(
  z.pipe(
    z.string(),
    z.transform((value) => value.replace(/^(\+|00)(?=\d)/, "")),
  ),
  z.string().check(z.regex(/^[\p{L}\p{N} ._-]{1,20}$/u)),
);

/** The number of ours that a message came to. */
export const OwnNumber = z.pipe(Address, z.string().check(z.regex(/^\d{3,15}$/)));

/** Longer than any SMS; what is longer has not come from a phone. */
export const ReplyText = z.string().check(z.maxLength(4_000));
