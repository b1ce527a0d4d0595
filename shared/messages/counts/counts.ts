import * as z from "zod/mini";

import { dayMs, hourMs } from "../../platform/clock.ts";
import { pendingWorkFields, pendingWorkOf } from "../../platform/jobs/pending-work.ts";
import { log } from "../../platform/log.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { rowsOf, type List } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { shardOf, type DayShard } from "../../platform/table/shards.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { effectsOf } from "../message/effects.ts";
import type { FinalDelivery, MessageRecord } from "../message/record.ts";
import { emptyTally, Margins, Tally, tallyOf, Usage } from "./figures.ts";
import { Indexed } from "./number-index.ts";
import { added } from "./rows.ts";

/*
 * The outcomes of messages, counted for each day and each campaign: reading them costs the same for any number of
 * messages. A function that dies between a change and its count leaves the counter wrong by that change. When the day is
 * over, the messages themselves are counted (`recount.ts`). The counter is closed once all of them have ended.
 *
 * Accepted messages are not counted here: the debit that pays for them counts them in the wallet, for the wallet's
 * present day. When the wallet starts its next day, the figures of the day before are noted in that day's counter.
 * Until the messages have been counted they may include debits without a message.
 */

export const CountsRecord = z.extend(Tally, {
  entity: z.literal("messageCounts"),
  sk: z.string(),
  /**
   * The count of the organization's wallet for a day that is over. It has no meaning once the messages have been counted.
   */
  acceptedByWallet: z._default(z.int(), 0),
  acceptedByWalletMicros: z._default(z.int(), 0),
  /** Grows with each change, so that a count of the messages themselves notices concurrent changes. */
  changes: z._default(z.int(), 0),
  /** When a count of the messages themselves last began. */
  lookedAt: z.optional(z.string()),
  /** The progress of a count of the messages that takes more than one run, and `changes` from when it began. */
  unfinished: z.optional(
    z.extend(Tally, {
      after: z.optional(z.string()),
      changes: z.int(),
      /** The amounts by country and carrier, for the operator, and by country, for the customer. */
      margins: z._default(Margins, []),
      /** Absent from a count that an older release began. */
      usage: z.optional(Usage),
      /** The verifications whose fee is not decided yet. */
      openFees: z._default(z.int(), 0),
      /** Whether the number index has all messages of the count so far. */
      isIndexed: z.optional(z.boolean()),
    }),
  ),
  /** When `accepted` and `spentMicros` became those of the messages; later changes are added to them. */
  countedAt: z.optional(z.string()),
  /** When the counts became exact and final. */
  closedAt: z.optional(z.string()),
  /** Present once the number index has all messages of the day. */
  indexed: z.optional(Indexed),
  /** Present for a day until it is closed. */
  ...pendingWorkFields,
});
export type CountsRecord = z.infer<typeof CountsRecord>;

/** The time from the end of a day until it is counted. By then most of its messages have ended; others defer it. */
export const countDayAfterMs = hourMs;

/** A message, and the amounts that its outcome or its receipt adds to its counters. */
interface Change {
  readonly message: MessageRecord;
  readonly tally: Tally;
}

/** Counts messages that have just ended. */
export async function countOutcomes(ended: readonly MessageRecord[]): Promise<void> {
  const changes = ended.map((message): Change => {
    const { sent, failed, cancelled, returnedMicros } = tallyOf([message]);
    const ends = { sent, failed, cancelled, returnedMicros, spentMicros: -returnedMicros };
    return { message, tally: { ...emptyTally, ...ends } };
  });
  await countChanges("outcome", changes);
}

/** A change by a receipt: the message, and its delivery status before. */
export interface RecordedReceipt {
  readonly message: MessageRecord;
  readonly before: FinalDelivery | undefined;
}

/** Counts receipts that have just changed something. */
export async function countReceipts(recorded: readonly RecordedReceipt[]): Promise<void> {
  const changes = recorded.map(({ message, before }): Change => {
    const { delivered, undelivered } = tallyOf([message]);
    // A message that was delivered stays so.
    const former = before === "undelivered" ? 1 : 0;
    return { message, tally: { ...emptyTally, delivered, undelivered: undelivered - former } };
  });
  await countChanges("receipt", changes);
}

/** Writes once for each day and each campaign among the messages. Test messages are not counted. */
async function countChanges(kind: "outcome" | "receipt", changes: readonly Change[]): Promise<void> {
  const sums = new Map<
    string,
    { readonly key: Key<"counts">; readonly tally: Tally; readonly day?: DayShard }
  >();
  for (const { message, tally } of changes.filter((each) => effectsOf(each.message).isCounted)) {
    const { organizationId, campaignId } = message;
    const day = shardOf(message);
    const ofCampaign =
      campaignId === undefined ? [] : [{ key: keys.campaignCounts(organizationId, campaignId) }];
    for (const counter of [{ key: day.counter, day }, ...ofCampaign]) {
      const name = `${counter.key.pk} ${counter.key.sk}`;
      sums.set(name, { ...counter, tally: added(sums.get(name)?.tally ?? emptyTally, tally) });
    }
  }
  await Promise.all(
    [...sums.values()].map(async ({ key, tally, day }) =>
      kind === "outcome"
        ? count(key, tally, { absent: ["closedAt"] }, day === undefined ? {} : toBeClosed(day))
        : // Receipts arrive long after all messages have ended.
          count(key, tally),
    ),
  );
}

/** Makes sure that a day with accepted messages is counted once it is over, even if its counts were lost. */
export async function noteDay(shard: DayShard): Promise<void> {
  const { set, setIfAbsent } = toBeClosed(shard);
  // Adding zero creates the counter that the count of the messages compares.
  const changes = { set: { ...set, entity: "messageCounts" }, setIfAbsent, add: { changes: 0 } } as const;
  await updateItem(CountsRecord, updateOf(shard.counter, changes, { absent: ["closedAt"] }));
}

/** The changes that list a day in the pending-work index until it is closed. */
export function toBeClosed({
  organizationId,
  day,
}: Pick<DayShard, "day" | "organizationId">): Required<Pick<Changes<"counts">, "set" | "setIfAbsent">> {
  return {
    set: { pendingWork: pendingWorkOf("CLOSE-DAY", organizationId) },
    setIfAbsent: { visitAt: visitOfDay(day) },
  };
}

/** Returns when a day is counted, in ISO 8601. Until then the pending-work index lists its counters at this moment. */
export function visitOfDay(day: string): string {
  return new Date(Date.parse(day) + dayMs + countDayAfterMs).toISOString();
}

/** Defers the next visit of a day with messages that have not ended, until a moment in ISO 8601. */
export async function rescheduleDay(key: Key<"counts">, visitAt: string): Promise<void> {
  await updateItem(CountsRecord, updateOf(key, { set: { visitAt } }, { absent: ["closedAt"] }));
}

/** Adds to a counter. A failure is only logged, because the recount corrects the counter before it is closed. */
async function count(
  key: Key<"counts">,
  tally: Tally,
  requires: Requirements<"counts"> = {},
  { set, setIfAbsent = {} }: Pick<Changes<"counts">, "set" | "setIfAbsent"> = {},
): Promise<void> {
  const add = Object.fromEntries(Object.entries(tally).filter(([, amount]) => amount !== 0));
  const changes = {
    set: { entity: "messageCounts", ...set },
    setIfAbsent,
    add: { ...add, changes: 1 },
  } as const;
  try {
    // A double count is as wrong as a missing one, and neither is worth a customer's wait.
    await updateItem(CountsRecord, updateOf(key, changes, requires), { bestEffort: true });
  } catch (error) {
    log.warn("message.count_failed", { error });
  }
}

/** Returns the counters of a list, in order. Days without counts have none. */
export async function readCounts(list: List): Promise<CountsRecord[]> {
  const found: CountsRecord[] = [];
  for await (const { item } of rowsOf(CountsRecord, list)) if (item !== undefined) found.push(item);
  return found;
}

/** Returns the counts of one campaign; undefined while no message has ended. */
export async function findCampaignCounts(
  organizationId: string,
  campaignId: string,
): Promise<CountsRecord | undefined> {
  return findItem(CountsRecord, keys.campaignCounts(organizationId, campaignId));
}

/**
 * Returns the counts of receipts as customers see them. A counter that lost a count is off by it; a negative number helps
 * no one.
 */
export function receiptsOf(counts: Tally): {
  delivered: number;
  undelivered: number;
  receiptRate: number | null;
} {
  const [delivered, undelivered] = [Math.max(0, counts.delivered), Math.max(0, counts.undelivered)];
  return { delivered, undelivered, receiptRate: shareOf(delivered, delivered + undelivered) };
}

/** Returns the share of `some` in `all`, to four digits; null if there are none. */
export function shareOf(some: number, all: number): number | null {
  return all === 0 ? null : Math.round((some / all) * 10_000) / 10_000;
}
