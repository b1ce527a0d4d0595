import { randomUUID } from "node:crypto";

import { now } from "../platform/clock.ts";
import { Refusal } from "../platform/refusal.ts";
import { putItem, transact, updateItem } from "../platform/table/table.ts";
import type { PriceRow } from "./rate-card.ts";
import { completeCard, CurrentCardRecord, listRateCards, makeCurrent, rateCardPuts } from "./record.ts";

/** In the place of what two operators do at the same time. */
const changedMeanwhile =
  "The prices were changed meanwhile. Nothing was changed now: look again, and repeat it.";

/**
 * Keeps rows as the next version of the rate card and lets it count.
 * @param seen the version that counted when it was decided on; undefined is none
 * @returns the number of the version
 * @throws Error in words for the operator when another version counts by now, or is being imported
 */
export async function publishRateCard(rows: readonly PriceRow[], seen: number | undefined): Promise<number> {
  const [newest] = await listRateCards(1);
  const version = (newest?.version ?? 0) + 1;
  const importId = randomUUID();
  const [card, ...chunks] = rateCardPuts({ version, importId, rows, importedAt: now() });
  // Whoever was first with the number has it: chunks of two imports are never mixed.
  const reserved = await putItem(card, { isOwn: (found) => found["importId"] === importId });
  if (!reserved.applied) throw new Refusal(changedMeanwhile);
  for (const chunk of chunks) await putItem(chunk);
  const { outcome } = await transact([makeCurrent(version, seen), completeCard(version, now())]);
  if (outcome === "refused") throw new Refusal(changedMeanwhile);
  return version;
}

/**
 * Lets an older version of the rate card count again.
 * @param seen the version that counted when it was decided on
 * @throws Error in words for the operator when another one counts by now
 */
export async function restoreRateCard(version: number, seen: number | undefined): Promise<void> {
  const restored = await updateItem(CurrentCardRecord, makeCurrent(version, seen), {
    isOwn: (found) => found.version === version,
  });
  if (!restored.applied) throw new Refusal(changedMeanwhile);
}
