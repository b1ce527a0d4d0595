import type { Carrier, SubmitResult, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import type { NamedCarrier } from "../../shared/carriers/carriers.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";

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

/** A sender with one carrier that accepts every message, as on a stage without routes. */
export function only(carrier: Carrier, others: Omit<Sender, "carriers"> = {}): Sender {
  const named = { name: "sandbox", carrier, isDisabled: false };
  return { carriers: { routeOf: () => [named], named: () => named }, ...others };
}

/** A sender whose one route leads to carriers in their order. */
export function inOrder(
  route: readonly (Pick<NamedCarrier, "carrier" | "name"> & Partial<NamedCarrier>)[],
  others: Omit<Sender, "carriers"> = {},
): Sender {
  const all = route.map((each) => ({ isDisabled: false, ...each }));
  return {
    carriers: { routeOf: () => all, named: (name) => all.find((each) => each.name === name) },
    ...others,
  };
}

/** The id of the message that a carrier's reference names. */
export function messageIdIn(reference: string): string {
  return reference.slice(reference.indexOf(".") + 1);
}
