import type { MessageRecord } from "../message/record.ts";
import { findNumber } from "../numbers/record.ts";
import type { Sender } from "./choose-carrier.ts";

/**
 * Returns the sender of a message from a number, which reaches no carrier except that of the number, if it has one. Only
 * the first carrier of the destination's route may cost more than the price.
 */
export async function senderFromNumber(
  number: string,
  message: MessageRecord,
  sender: Sender,
): Promise<Sender> {
  const carrier = (await findNumber(number))?.carrier;
  if (carrier === undefined) return sender;
  const { carriers } = sender;
  const [first] = carriers.routeOf(message);
  const named = first === undefined ? undefined : carriers.named(carrier);
  return {
    ...sender,
    firstChoice: first?.name,
    carriers: {
      routeOf: () => (named === undefined ? [] : [named]),
      named: (name) => carriers.named(name),
    },
  };
}
