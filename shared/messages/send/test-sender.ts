import type { NamedCarrier } from "../../carriers/carriers.ts";
import { sandboxCarrier } from "../../carriers/sandbox.ts";
import type { Sender } from "./choose-carrier.ts";

const sandbox: NamedCarrier = { name: "sandbox", carrier: sandboxCarrier("sandbox"), isDisabled: false };

/**
 * Returns the sender of test messages, which reaches no carrier except the sandbox, whatever the carriers and routes of the
 * stage are. Breakers, throughput and the pause of sending protect live carriers, so they do not apply.
 */
export function testSender({ stateOf, remainingTimeMs, carrierTimeoutMs }: Sender): Sender {
  return {
    carriers: {
      routeOf: () => [sandbox],
      named: (name) => (name === sandbox.name ? sandbox : undefined),
    },
    ...(stateOf && { stateOf }),
    ...(remainingTimeMs && { remainingTimeMs }),
    ...(carrierTimeoutMs !== undefined && { carrierTimeoutMs }),
  };
}
