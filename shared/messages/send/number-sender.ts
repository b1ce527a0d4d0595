import { findNumber } from "../numbers/record.ts";
import type { Sender } from "./choose-carrier.ts";

/** Returns the sender of messages from a number, which reaches no carrier except that of the number, if it has one. */
export async function senderFromNumber(number: string, sender: Sender): Promise<Sender> {
  const carrier = (await findNumber(number))?.carrier;
  if (carrier === undefined) return sender;
  const { carriers } = sender;
  const named = carriers.named(carrier);
  return {
    ...sender,
    carriers: {
      routeOf: () => (named === undefined ? [] : [named]),
      named: (name) => carriers.named(name),
    },
  };
}
