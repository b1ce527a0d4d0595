import * as z from "zod/mini";

import type { Carrier, SubmitResult, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import type { Carriers, NamedCarrier } from "../../shared/carriers/carriers.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";
import { noLimits } from "../../shared/messages/send/test-sender.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { stateOfOrganization } from "../../shared/tenancy/organizations/record.ts";

/** A carrier with scripted results, which records the submitted messages. */
export class ScriptedCarrier implements Carrier {
  readonly received: OutgoingMessage[] = [];
  readonly idempotent: boolean;
  readonly #answer: (call: number) => SubmitResult | Promise<SubmitResult>;

  /** The function receives the number of the call, from 1. If it throws, the result of the submission is unknown. */
  constructor(answer: (call: number) => SubmitResult | Promise<SubmitResult>, idempotent = true) {
    this.#answer = answer;
    this.idempotent = idempotent;
  }

  async send(message: OutgoingMessage): Promise<SubmitResult> {
    this.received.push(message);
    return this.#answer(this.received.length);
  }
}

export const accept = (): SubmitResult => ({ outcome: "accepted", carrierReference: "carrier-1" });
export const reject = (): SubmitResult => ({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" });
export const throttle = (): SubmitResult => ({ outcome: "throttled" });
export const beUnreachable = (): SubmitResult => ({ outcome: "unreachable", reason: "ECONNREFUSED" });
/** Leaves the outcome of the submission unknown. */
export const loseResponse = (): never => {
  throw new Error("the response was lost");
};

/** A sender with some carriers and some limits. It has no others. */
export function senderOf(carriers: Carriers, limits: Partial<Sender> = {}): Sender {
  return { ...noLimits, stateOf: stateOfOrganization, remainingTimeMs: () => Infinity, carriers, ...limits };
}

/** A sender with one carrier, as on a stage without routes. By default the carrier accepts every message. */
export function only(carrier: Carrier = new ScriptedCarrier(accept), limits: Partial<Sender> = {}): Sender {
  const sandbox = { name: "sandbox", carrier, isDisabled: false };
  return senderOf({ routeOf: () => [sandbox], named: () => sandbox }, limits);
}

/** The carriers of a route in their order, with their names. */
export function named<Kind extends Carrier>(
  carriers: Readonly<Record<string, Kind>>,
): { readonly name: string; readonly carrier: Kind }[] {
  return Object.entries(carriers).map(([name, carrier]) => ({ name, carrier }));
}

/** A sender whose one route leads to carriers in their order. */
export function inOrder(
  route: readonly (Pick<NamedCarrier, "carrier" | "name"> & Partial<NamedCarrier>)[],
  limits: Partial<Sender> = {},
): Sender {
  const all = route.map((each) => ({ isDisabled: false, ...each }));
  return senderOf({ routeOf: () => all, named: (name) => all.find((each) => each.name === name) }, limits);
}

/** The id of the message that a carrier's reference names. */
export function messageIdIn(reference: string): string {
  return reference.slice(reference.indexOf(".") + 1);
}

const SandboxRecord = z.object({ calls: z.number() });

/** The number of calls to the sandbox carrier for a message. */
export async function sandboxCalls(messageId: string): Promise<number> {
  return (await findItem(SandboxRecord, keys.sandboxMessage(messageId), { consistent: true }))?.calls ?? 0;
}
