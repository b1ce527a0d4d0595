import { randomUUID } from "node:crypto";

import { now } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { transact } from "../../platform/table/transact.ts";
import { putItem, updateItem } from "../../platform/table/write.ts";
import type { PriceRow } from "./rate-card.ts";
import { completeCard, CurrentCardRecord, listRateCards, makeCurrent, rateCardPuts } from "./record.ts";

/** The message for the second of two operators who change prices at the same time. */
const changedMeanwhile =
  "The prices changed meanwhile. This command changed nothing: look at the prices again, and repeat it.";

/**
 * Stores rows as the next version of the rate card and makes it the current one.
 * @param seen the current version when the operator decided; undefined is none
 * @returns the number of the version
 * @throws Error for the operator when another version is current by now, or is being imported
 */
export async function publishRateCard(rows: readonly PriceRow[], seen: number | undefined): Promise<number> {
  const [newest] = await listRateCards(1);
  const version = (newest?.version ?? 0) + 1;
  const importId = randomUUID();
  const [card, ...chunks] = rateCardPuts({ version, importId, rows, importedAt: now() });
  // The first import with a number reserves it, so that chunks of two imports are never mixed.
  const reserved = await putItem(card, { isOwn: (found) => found["importId"] === importId });
  if (!reserved.applied) throw new RejectedError(changedMeanwhile);
  for (const chunk of chunks) await putItem(chunk);
  const { outcome } = await transact({
    current: makeCurrent(version, seen),
    card: completeCard(version, now()),
  });
  if (outcome === "rejected") throw new RejectedError(changedMeanwhile);
  return version;
}

/**
 * Makes an older version of the rate card the current one again.
 * @param seen the current version when the operator decided
 * @throws Error for the operator when another version is current by now
 */
export async function restoreRateCard(version: number, seen: number | undefined): Promise<void> {
  const restored = await updateItem(CurrentCardRecord, makeCurrent(version, seen), {
    isOwn: (found) => found.version === version,
  });
  if (!restored.applied) throw new RejectedError(changedMeanwhile);
}
