import * as z from "zod/mini";

import { addTo } from "../../messages/counts/rows.ts";
import { countryOfNumber } from "../../messages/destinations/numbering-plan.ts";
import { idDelayMs, MessageRecord } from "../../messages/message/record.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { dayMs, dayOf, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { shardsOfDay } from "../../platform/table/shards.ts";
import { putItem, putOf } from "../../platform/table/write.ts";

/*
 * The spending of a customer on a day so far, by country. Each visit adds the messages since the one before, so that each message is read
 * once.
 */

const CountrySpend = z.object({
  /** As an ISO 3166-1 code, or XK; `none` for numbers without a country. */
  name: z.string(),
  messages: z.int(),
  amountMicros: z.int(),
});
export type CountrySpend = z.infer<typeof CountrySpend>;

export const SpendSoFarRecord = z.object({
  entity: z.literal("spendSoFar"),
  /** The last message that is in the sums, by the partition of its shard. */
  after: z.record(z.string(), z.string()),
  countries: z.array(CountrySpend),
  expiresAt: z.int(),
});
type SpendSoFarRecord = z.infer<typeof SpendSoFarRecord>;

/** The time in which each message with an id has been written. Younger ones are left to the next visit. */
const settledMs = minuteMs;

const keptMs = 3 * dayMs;

/** The most messages that a visit reads in a shard: about ten seconds. The next visit continues. */
export const visitLimits = { messages: 100_000 };

/** Adds the newest messages of a day to its sums. @returns the sums, of all messages that were accepted, whatever became of them */
export async function spendSoFar(wallet: WalletRecord, day: string): Promise<readonly CountrySpend[]> {
  const key = keys.spendSoFar(wallet.organizationId, day);
  const seen = await findItem(SpendSoFarRecord, key, { consistent: true });
  const sums = new Map(seen?.countries.map((each) => [each.name, each]));
  const after: Record<string, string> = { ...seen?.after };
  const startMs = Date.parse(day);
  const endMs = Math.min(startMs + dayMs + idDelayMs, now().getTime() - settledMs);
  let isChanged = false;
  for (const { messages: pk } of shardsOfDay(wallet, day)) {
    const range = { from: firstIdAt("msg", new Date(startMs)), to: firstIdAt("msg", new Date(endMs)) };
    let left = visitLimits.messages;
    for await (const message of itemsIn(MessageRecord, {
      pk,
      ...range,
      after: after[pk],
      skipsUnreadable: true,
    })) {
      if (left === 0) break;
      left -= 1;
      after[pk] = message.id;
      isChanged = true;
      if (dayOf(message.queuedAt) !== day) continue;
      const name = countryOfNumber(message.to) ?? "none";
      addTo(sums, name, { name, messages: 1, amountMicros: message.totalMicros });
    }
  }
  const countries = [...sums.values()];
  if (!isChanged) return countries;
  const record: SpendSoFarRecord = {
    entity: "spendSoFar",
    after,
    countries,
    expiresAt: epochSeconds(new Date(startMs + keptMs)),
  };
  // The sums are those of the messages up to `after`. Where two visits write at the same time, the next one continues from either.
  await putItem(putOf(key, record));
  return countries;
}
