import { ApiError } from "../../api/contract/errors.ts";
import { dailyLimits, type DailyLimit } from "../../money/prices/blocked-destinations.ts";
import { reserveToday } from "../../platform/limits/daily.ts";
import type { MessageRecord } from "../message/record.ts";
import { reserveAll, type Reservation } from "./reservations.ts";

/*
 * The operator's limits on the spending of an organization on a prefix in a day (UTC). As with the budget of an API key, a
 * send reserves its price before the debit, so that parallel sends never exceed it. A send that was certainly not charged
 * releases its reservation. A crash, or an unknown outcome, leaves it, and a repeat under the same name uses it. Refunds
 * release nothing. Without a limit for its prefix, a send reads and writes nothing more.
 */

const limitName = "destination-limit";

/** The error of messages beyond a limit. */
export class DestinationLimitReached extends ApiError {
  /** With what is left of it today, in micro-units. */
  readonly limit: DailyLimit & { readonly leftMicros: number };

  constructor(limit: DestinationLimitReached["limit"]) {
    super("DESTINATION_NOT_ALLOWED", {
      message:
        "The organization has reached its limit for this destination. It can send there again after midnight (UTC).",
    });
    this.limit = limit;
  }
}

/**
 * Reserves the prices of messages of one organization in the daily limits of their destinations.
 * @param name what the messages are, for repeats after an attempt that died
 * @throws DestinationLimitReached
 */
export async function reserveDestinations(
  messages: readonly Pick<MessageRecord, "organizationId" | "to" | "totalMicros">[],
  name?: string,
): Promise<readonly Reservation[]> {
  const [first] = messages;
  if (first === undefined) return [];
  const { organizationId } = first;
  const limits = await dailyLimits(organizationId);
  return reserveAll(
    limits.map(async (limit) => {
      const { prefix, dailyMicros: max } = limit;
      const limited = messages.filter(({ to }) => to.startsWith(prefix));
      if (limited.length === 0) return [];
      const amountMicros = limited.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
      const subject = `${organizationId} ${prefix}`;
      const reserved = await reserveToday({ name: limitName, max }, subject, amountMicros, name);
      if ("left" in reserved) throw new DestinationLimitReached({ ...limit, leftMicros: reserved.left });
      return [{ ...reserved, staysInDoubt: true }];
    }),
  );
}
