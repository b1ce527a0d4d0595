import type { Carrier } from "../../shared/carriers/carrier.ts";
import type { Sender } from "../../shared/messages/choose-carrier.ts";

/** A sender for which one carrier takes everything, as on a stage without routes. */
export function only(carrier: Carrier, others: Omit<Sender, "carriers"> = {}): Sender {
  const named = { name: "sandbox", carrier, isDisabled: false };
  return { carriers: { routeOf: () => [named], named: () => named }, ...others };
}

/** The id of the message that a carrier's reference names. */
export function messageIdIn(reference: string): string {
  return reference.slice(reference.indexOf(".") + 1);
}
