import type { Encoding, MessageErrorCode } from "../api/contract/sms.ts";

export interface OutgoingMessage {
  /** Identifies the message in the whole gateway: `<organization>.<message>`, of letters, digits, `_` and one dot. */
  readonly reference: string;
  readonly to: string;
  /** The ISO 3166-1 code of the country that the number belongs to, where it is known. */
  readonly country?: string | undefined;
  readonly from: string;
  /** Whether `from` is a number of the customer at this carrier, so that it precedes all senders of the carrier's settings. */
  readonly isFromNumber?: boolean | undefined;
  readonly text: string;
  readonly encoding: Encoding;
  readonly isPromotional: boolean;
  /** The seconds from now within which it may be delivered, where it expires: 5 to 259,200. */
  readonly validitySeconds?: number | undefined;
}

/** A message with the address for its delivery receipts, where the carrier sends them. */
export type AddressedMessage = OutgoingMessage & { readonly callbackUrl?: string | undefined };

/** The carrier's own code in a response, where there is one: see `providerCodeOf`. */
interface Coded {
  readonly providerCode?: string | undefined;
}

/** The outcome of a submission. A thrown error means that it is not known whether the carrier accepted the message. */
export type SubmitResult = Coded &
  (
    | {
        readonly outcome: "accepted";
        readonly carrierReference?: string | undefined;
        /** Whether the carrier only buffers the message, because its link is down. */
        readonly isBuffered?: boolean;
      }
    /** The carrier rejected the message for good. */
    | { readonly outcome: "rejected"; readonly errorCode: MessageErrorCode }
    /** The carrier did not accept the message, but a later attempt may succeed. */
    | { readonly outcome: "throttled"; readonly retryAfterSeconds?: number | undefined }
    /**
     * Nothing was submitted, and the message is not the reason: no connection was made, or the carrier rejected the
     * gateway's credentials or request. `reason` is a name from the gateway or of an error, never text from the
     * carrier.
     */
    | { readonly outcome: "unreachable"; readonly reason: string }
  );

export interface Carrier {
  /** Whether a message that is submitted twice with the same reference is sent once. */
  readonly idempotent: boolean;
  send(message: OutgoingMessage): Promise<SubmitResult>;
}
