import { noteDay, readCounts, type CountsRecord } from "../messages/counts.ts";
import { dayMs, dayOf, now } from "../platform/clock.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { readWallet, WalletRecord } from "../wallet/record.ts";
import { toBeSettled } from "../wallet/settlement.ts";

/** Days back that are looked at: a message is scheduled 30 days ahead at the most. */
const maxDaysBack = 32;

/**
 * Puts an organisation's wallet and days on the agenda if something is to be done about them and they are not on it:
 * those that were changed last by a release that had no agenda.
 * @returns how many it put there
 * @throws ApiError WALLET_MISSING
 */
export async function rebuildAgenda(organizationId: string): Promise<number> {
  const wallet = await readWallet(organizationId);
  const isForgotten = wallet.settledSeq < wallet.seq && wallet.agenda === undefined;
  if (isForgotten) {
    const changes = toBeSettled(organizationId, wallet.lastAt);
    await updateItem(WalletRecord, updateOf(keys.wallet(organizationId), changes, { present: ["pk"] }));
  }
  const days = await forgottenDays(organizationId);
  // The messages of the release that had no agenda are in one part.
  for (const { sk } of days) await noteDay(organizationId, sk.slice("DAY#".length), "");
  return days.length + (isForgotten ? 1 : 0);
}

async function forgottenDays(organizationId: string): Promise<CountsRecord[]> {
  const at = now().getTime();
  const dayKey = (timeMs: number): Key =>
    keys.dayCounts(organizationId, dayOf(new Date(timeMs).toISOString()));
  const range = { from: dayKey(at - maxDaysBack * dayMs), to: dayKey(at), limit: maxDaysBack + 1 };
  const days = await readCounts(range);
  return days.filter(({ closedAt, agenda }) => closedAt === undefined && agenda === undefined);
}
