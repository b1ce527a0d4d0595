import type { Random } from "../chaos/random.ts";
import type { ChosenOrder } from "./chosen-order.ts";
import type { ModelCarrier } from "./money-path.ts";

/** A carrier that counts how often it accepted each message. An idempotent one accepts a message once. */
export interface CountingCarrier extends ModelCarrier {
  readonly taken: Map<string, number>;
}

interface Behavior {
  readonly isIdempotent: boolean;
  /** Decides the outcome of each submission while there are faults. */
  readonly order: ChosenOrder;
  /** Decides it afterwards: most submissions happen then, and these carriers are not reliable either. */
  readonly random: Random;
}

export function newCarrier(name: string, { isIdempotent, order, random }: Behavior): CountingCarrier {
  const taken = new Map<string, number>();
  return {
    name,
    taken,
    isIdempotent,
    submit: async (id) => {
      await order.turn();
      const behavior = order.isFaulty ? order.choose(8) : Math.floor(random() * 30);
      if (behavior === 1) return "throttled";
      if (behavior === 2) return "rejected";
      if (behavior === 3) throw new Error("the carrier did not accept it");
      if (!isIdempotent || !taken.has(id)) taken.set(id, (taken.get(id) ?? 0) + 1);
      await order.turn();
      if (behavior === 4) throw new Error("the carrier accepted it and broke");
      return "accepted";
    },
  };
}
