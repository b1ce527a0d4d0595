import { carrierOf, type NamedCarrier } from "../../carriers/carriers.ts";
import { now } from "../../platform/clock.ts";
import type { Sender } from "./choose-carrier.ts";

const sandbox: NamedCarrier = {
  name: "sandbox",
  carrier: carrierOf({ name: "sandbox", settings: { kind: "sandbox" } }),
  isDisabled: false,
};

/** The parts of a sender that protect live carriers, without any limit. */
export const noLimits: Pick<Sender, "breakers" | "rateCard" | "sending" | "throughput"> = {
  breakers: {
    openUntil: async () => undefined,
    admit: async () => ({ isAdmitted: true }),
    note: async () => undefined,
  },
  throughput: { reserve: async () => now().getTime() },
  sending: {},
  rateCard: undefined,
};

/**
 * Returns the sender of test messages, which reaches no carrier except the sandbox, whatever the carriers and routes of the
 * stage are.
 */
export function testSender({ stateOf, remainingTimeMs }: Sender): Sender {
  return {
    ...noLimits,
    carriers: {
      routeOf: () => [sandbox],
      named: (name) => (name === sandbox.name ? sandbox : undefined),
    },
    stateOf,
    remainingTimeMs,
  };
}
