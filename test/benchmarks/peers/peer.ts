import type { HttpCall } from "../http-load.ts";
import type { ProcessUsage } from "../served-gateway.ts";

/** Something that takes messages over HTTP and brings them to a carrier on this machine. */
export interface Peer {
  /** The next message, as a call that is answered when it is accepted. */
  readonly call: () => HttpCall;
  /** How many messages have come to the carrier so far. */
  readonly delivered: () => Promise<number>;
  /** What its processes have used so far, and hold now. */
  readonly usage: () => Promise<ProcessUsage>;
  stop(): Promise<void>;
}

/** How a peer is started, and what it promises. */
export interface PeerKind {
  readonly name: string;
  /** What is known of a message once it is accepted. */
  readonly guarantee: string;
  /** @throws MissingProgramError when it is not installed here */
  readonly start: () => Promise<Peer>;
}

/** What a peer needs is not on this machine. */
export class MissingProgramError extends Error {}

/** How long a peer may take until it listens. */
export const startTimeoutMs = 60_000;
