import type { AcceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { oneShard, shardsOfDay } from "../../platform/table/shards.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { CountsRecord, toBeClosed } from "./counts.ts";
import { emptyTally, type Tally } from "./figures.ts";
import { added } from "./rows.ts";

/*
 * The wallet's count of a day, and its combination with the counters of the day.
 */

/**
 * Records a wallet's count of a day before the wallet deletes it. May be repeated: the highest count stays.
 * @throws ApiError UNAVAILABLE
 */
export async function noteAccepted(
  organizationId: string,
  { day, accepted, acceptedMicros }: AcceptedOfDay,
): Promise<void> {
  const [{ counter }] = shardsOfDay({ organizationId, ...oneShard }, day);
  const { set, setIfAbsent } = toBeClosed({ organizationId, day });
  const noted = { acceptedByWallet: accepted, acceptedByWalletMicros: acceptedMicros };
  // Rejected if the day is closed, or another function has recorded a higher count.
  await updateItem(
    CountsRecord,
    updateOf(
      counter,
      { set: { entity: "messageCounts", ...set, ...noted }, setIfAbsent },
      { absent: ["closedAt"], ifPresent: { below: { acceptedByWallet: accepted } } },
    ),
  );
}

/**
 * Tallies the messages of one day, as far as they are known.
 * @param counters those of the day
 * @param byWallet the wallet's count of that day, if it is the wallet's present day
 */
export function tallyOfDay(counters: readonly CountsRecord[], byWallet?: AcceptedOfDay): Tally {
  const sum = counters.reduce<Tally>(added, emptyTally);
  if (counters.length > 0 && counters.every(({ countedAt }) => countedAt !== undefined)) return sum;
  const { accepted, acceptedMicros } = mostAccepted(counters, byWallet);
  if (accepted === 0) return sum;
  const spentMicros = acceptedMicros - sum.returnedMicros;
  return { ...sum, accepted: Math.max(sum.accepted, accepted), spentMicros };
}

/** Returns the highest count. The wallet may hold a day that has been recorded already; a higher count is a later one. */
function mostAccepted(
  counters: readonly CountsRecord[],
  byWallet: AcceptedOfDay | undefined,
): Omit<AcceptedOfDay, "day"> {
  const noted = counters.map(({ acceptedByWallet, acceptedByWalletMicros }) => ({
    accepted: acceptedByWallet,
    acceptedMicros: acceptedByWalletMicros,
  }));
  return [...noted, byWallet ?? { accepted: 0, acceptedMicros: 0 }].reduce((most, each) =>
    each.accepted > most.accepted ? each : most,
  );
}
