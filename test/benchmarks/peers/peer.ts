import type { HttpCall } from "../http-load.ts";
import type { ProcessUsage } from "../served-gateway.ts";

/** A program that accepts messages over HTTP and submits them to a carrier on this machine. */
export interface Peer {
  /** The next message, as a call whose response means that it is accepted. */
  readonly call: () => HttpCall;
  /** How many messages the carrier has received so far. */
  readonly delivered: () => Promise<number>;
  /** The CPU time and the memory of its processes. */
  readonly usage: () => Promise<ProcessUsage>;
  stop(): Promise<void>;
}

/** How a peer is started, and what it promises. */
export interface PeerKind {
  readonly name: string;
  /** The guarantee for an accepted message. */
  readonly guarantee: string;
  /** @throws MissingProgramError when it is not installed here */
  readonly start: () => Promise<Peer>;
}

/** A program of a peer is not installed on this machine. */
export class MissingProgramError extends Error {}

/** How long a peer may take until it listens. */
export const startTimeoutMs = 60_000;
