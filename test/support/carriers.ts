import type { Carrier, SubmitResult, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import type { Carriers, NamedCarrier } from "../../shared/carriers/carriers.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";
import { noLimits } from "../../shared/messages/send/test-sender.ts";
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

/** A sender with some carriers and some limits. It has no others. */
export function senderOf(carriers: Carriers, limits: Partial<Sender> = {}): Sender {
  return { ...noLimits, stateOf: stateOfOrganization, remainingTimeMs: () => Infinity, carriers, ...limits };
}

/** A sender with one carrier that accepts every message, as on a stage without routes. */
export function only(carrier: Carrier, limits: Partial<Sender> = {}): Sender {
  const named = { name: "sandbox", carrier, isDisabled: false };
  return senderOf({ routeOf: () => [named], named: () => named }, limits);
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
