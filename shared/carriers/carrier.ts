import type { Encoding, MessageErrorCode } from "../contract/sms.ts";

export interface OutgoingMessage {
  /** Names the message to us by itself: `<organisation>.<message>`, of letters, digits, `_` and one dot. */
  readonly reference: string;
  readonly to: string;
  /** The ISO 3166-1 code of the country that the number belongs to, where it is known. */
  readonly country?: string | undefined;
  readonly from: string;
  readonly text: string;
  readonly encoding: Encoding;
  readonly isPromotional: boolean;
  /** For how many seconds from now it may be delivered, where it expires: 5 to 259,200. */
  readonly validitySeconds?: number | undefined;
}

/** A message with the address at which the carrier tells what becomes of it, where it is to tell that. */
export type AddressedMessage = OutgoingMessage & { readonly callbackUrl?: string | undefined };

/** What a carrier's own code says of an answer, where it has one: see `providerCodeOf`. */
interface Coded {
  readonly providerCode?: string | undefined;
}

/** What the carrier said. A thrown error means that it is not known whether the carrier took the message. */
export type HandOff = Coded &
  (
    | {
        readonly outcome: "accepted";
        readonly carrierReference?: string | undefined;
        /** Whether the carrier only keeps the message for now, because what it sends with does not work. */
        readonly isBuffered?: boolean;
      }
    /** The carrier did not take the message and never will. */
    | { readonly outcome: "refused"; readonly errorCode: MessageErrorCode }
    /** The carrier did not take the message, but a later attempt may go through. */
    | { readonly outcome: "tryLater"; readonly retryAfterSeconds?: number | undefined }
    /**
     * Nothing was handed over, through no fault of the message: no connection was made, or the carrier turned us away for
     * what we are. `reason` is a name of ours or of an error, never a word of the carrier.
     */
    | { readonly outcome: "notReached"; readonly reason: string }
  );

/** Whoever carries the SMS. */
export interface Carrier {
  /** Whether a message that is handed over twice with the same reference is sent once. */
  readonly deduplicates: boolean;
  send(message: OutgoingMessage): Promise<HandOff>;
}
