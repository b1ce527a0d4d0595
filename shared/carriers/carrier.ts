import type { MessageErrorCode, Encoding } from "../contract/sms.ts";

export interface OutgoingMessage {
  /** Our id of the message, given to the carrier as the client's reference. */
  readonly reference: string;
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly encoding: Encoding;
  readonly isPromotional: boolean;
}

/** What the carrier said. A thrown error means that it is not known whether the carrier took the message. */
export type HandOff =
  | { readonly outcome: "accepted"; readonly carrierReference: string }
  /** The carrier did not take the message and never will. */
  | { readonly outcome: "refused"; readonly errorCode: MessageErrorCode }
  /** The carrier did not take the message, but a later attempt may go through. */
  | { readonly outcome: "tryLater" };

/** Whoever carries the SMS. */
export interface Carrier {
  /** Whether a message that is handed over twice with the same reference is sent once. */
  readonly deduplicates: boolean;
  send(message: OutgoingMessage): Promise<HandOff>;
}
