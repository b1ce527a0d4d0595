import { ApiError } from "../../api/contract/errors.ts";
import { dailyLimits } from "../../money/prices/blocked-destinations.ts";
import { reserveToday } from "../../platform/limits/daily.ts";
import { log } from "../../platform/log.ts";
import type { MessageRecord } from "../message/record.ts";
import { isUncharged } from "./key-limits.ts";

/*
 * The operator's limits on the spending of an organization on a prefix in a day (UTC). As with the budget of an API key, a
 * send reserves its price before the debit, so that parallel sends never exceed it. A send that was certainly not charged
 * releases its reservation. A crash, or an unknown outcome, leaves it. Refunds release nothing. Without a limit for its
 * prefix, a send reads and writes nothing more.
 */

const limitName = "destination-limit";

/** The error of a message beyond a limit. */
export class DestinationLimitReached extends ApiError {
  readonly prefix: string;

  constructor(prefix: string) {
    super("DESTINATION_NOT_ALLOWED", {
      message:
        "The organization has reached its limit for this destination. It can send there again after midnight (UTC).",
    });
    this.prefix = prefix;
  }
}

/**
 * Accepts the messages of an organization by `accept` within the daily limits of their destinations, all or none.
 * @throws DestinationLimitReached, and the errors of `accept`
 */
export async function withinDestinationLimits<Accepted>(
  organizationId: string,
  messages: readonly Pick<MessageRecord, "to" | "totalMicros">[],
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  const releases: (() => Promise<void>)[] = [];
  try {
    for (const { prefix, dailyMicros: max } of await dailyLimits(organizationId)) {
      const limited = messages.filter(({ to }) => to.startsWith(prefix));
      if (limited.length === 0) continue;
      const amountMicros = limited.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
      const release = await reserveToday(
        { name: limitName, max },
        `${organizationId} ${prefix}`,
        amountMicros,
      );
      if (release === undefined) throw new DestinationLimitReached(prefix);
      releases.push(release);
    }
    return await accept();
  } catch (error) {
    if (isUncharged(error)) {
      await Promise.all(releases.map(async (release) => release())).catch((cause: unknown) => {
        log.warn("destination_limit.not_released", { organizationId, error: cause });
      });
    }
    throw error;
  }
}
