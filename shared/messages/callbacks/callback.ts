import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../../api/contract/sms.ts";
import type { FinalDelivery } from "../message/record.ts";

/** A delivery receipt, as read from a callback. */
export interface CallbackReceipt {
  /** The message's reference, where the receipt has it in a field. */
  readonly reference?: string | undefined;
  /** `pending` stands for all intermediate statuses. */
  readonly status: FinalDelivery | "pending";
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
  readonly inbound: (fields: Fields) => CallbackInboundMessage | undefined;
}

/** A number as carriers write it, with or without a plus sign. It becomes digits; a name stays as it is. */
export const Address = z.pipe(
  z.pipe(
    z.string(),
    z.transform((value) => value.replace(/^(\+|00)(?=\d)/, "")),
  ),
  z.string().check(z.regex(/^[\p{L}\p{N} ._-]{1,20}$/u)),
);

/** The gateway's number that received a message. */
export const OwnNumber = z.pipe(Address, z.string().check(z.regex(/^\d{3,15}$/)));

/** The text of an inbound message, with a limit above the longest SMS. */
export const InboundText = z.string().check(z.maxLength(4_000));
