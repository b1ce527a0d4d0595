import type { z } from "zod/mini";

import type { CallOptions } from "./call.ts";
import type { CallbackReader, Fields } from "./callback-reader.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import type { CarrierSettings } from "./settings.ts";

/*
 * A kind of carrier is one file, `<kind>.ts`, with two records: how it gets messages, and its callbacks with receipts and
 * inbound messages. They are apart because no function needs both, and a bundle has only the one that its function needs.
 */

export type Kind = CarrierSettings["kind"];

/** A carrier whose secret has been read, under its name in messages and routes. */
export interface CalledCarrier<Settings, Credentials> {
  readonly name: string;
  readonly settings: Settings;
  readonly credentials: Credentials;
}

/** How a kind of carrier gets messages. */
export interface CarrierCalls<
  Settings extends CarrierSettings = CarrierSettings,
  Credentials extends Record<string, string> = Record<string, string>,
> {
  readonly credentials: z.ZodMiniType<Credentials>;
  /** Checks what the schema of the settings cannot. @throws Error with a message for the operator */
  check?(settings: Settings, credentials: Credentials): void;
  /** Whether a message that is submitted twice with the same reference is sent once. Without it: never. */
  isIdempotent?(settings: Settings): boolean;
  /**
   * Submits a message.
   * @throws UnreachableError when nothing was sent; Error when it is not known whether the carrier accepted the message
   */
  submit(
    carrier: CalledCarrier<Settings, Credentials>,
    message: AddressedMessage,
    options?: CallOptions,
  ): Promise<SubmitResult>;
}

/** The callbacks of a kind of carrier, with receipts and inbound messages. */
export interface CarrierCallbacks<Settings extends CarrierSettings = CarrierSettings> {
  /** The receipts that it sends over HTTP for a segment, with intermediate states. 0: it makes no calls, and has no credentials. */
  readonly receiptsPerSegment: number;
  /** The name of its carriers in callbacks, where all of them are one account. */
  readonly account?: string;
  /** Returns the reader of its callbacks. Without it the kind reaches no phones. */
  reader?(settings: Settings): CallbackReader | Promise<CallbackReader>;
  /** Whether a call has the carrier's signature. Only a kind with the credential `authToken` can have it. */
  isSigned?(call: SignedCall, authToken: string): boolean;
  /** Returns why receipts or inbound messages of a carrier are lost, for the operator. */
  warnings?(carrier: {
    readonly name: string;
    readonly settings: Settings;
  }): Partial<Record<"inbound" | "receipts", string | undefined>>;
}

/** A call with a single receipt or inbound message, to the address that the carrier called. */
export interface SignedCall {
  readonly url: string;
  readonly fields: Fields;
  readonly headers: Readonly<Record<string, string | undefined>>;
}
