import * as z from "zod/mini";

import { dayMs, hourMs } from "../../platform/clock.ts";
import { pendingWorkFields, pendingWorkOf } from "../../platform/jobs/pending-work.ts";
import { log } from "../../platform/log.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { rowsOf, type List } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { shardOf, type DayShard } from "../../platform/table/shards.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { effectsOf } from "../message/effects.ts";
import type { FinalDelivery, MessageRecord } from "../message/record.ts";
import { Margins } from "./margins.ts";
import { Usage } from "./usage.ts";

/*
 * The outcomes of messages, counted for each day and each campaign: reading them costs the same for any number of
 * messages. A function that dies between a change and its count leaves the counter wrong by that change. When the day is
 * over, the messages themselves are counted (`recount.ts`). The counter is closed once all of them have ended.
 *
 * Accepted messages are not counted here: the debit that pays for them counts them in the wallet, for the wallet's
 * present day. When the wallet starts its next day, the figures of the day before are noted in that day's counter.
 * Until the messages have been counted they may include debits without a message.
 */

export const Tally = z.object({
  accepted: z._default(z.int(), 0),
  sent: z._default(z.int(), 0),
  failed: z._default(z.int(), 0),
  cancelled: z._default(z.int(), 0),
  /** Messages with a final receipt. */
  delivered: z._default(z.int(), 0),
  undelivered: z._default(z.int(), 0),
  /** The prices of the messages, without those that were or are being returned; see `accepted-of-day.ts`. */
  spentMicros: z._default(z.int(), 0),
  /** The prices that were or are being returned. */
  returnedMicros: z._default(z.int(), 0),
});
export type Tally = z.infer<typeof Tally>;

export const emptyTally: Tally = Tally.parse({});

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
      margins: z._default(Margins, []),
      /** Absent from a count that an older release began. */
      usage: z.optional(Usage),
    }),
  ),
  /** When `accepted` and `spentMicros` became those of the messages; later changes are added to them. */
  countedAt: z.optional(z.string()),
  /** When the counts became exact and final. */
  closedAt: z.optional(z.string()),
  /** Present for a day until it is closed. */
  ...pendingWorkFields,
});
export type CountsRecord = z.infer<typeof CountsRecord>;

/** The time from the end of a day until it is counted: by then its last messages have ended. */
export const countDayAfterMs = hourMs;

/**
 * Counts messages that have just ended, with one write for each day and each campaign among them. Test messages are not
 * counted.
 */
export async function countOutcomes(ended: readonly MessageRecord[]): Promise<void> {
  const messages = ended.filter((message) => effectsOf(message).isCounted);
  // A campaign's id belongs to one organization only.
  const ofCampaigns = Map.groupBy(messages, ({ campaignId }) => campaignId);
  await Promise.all([
    countOnDays(messages, outcomeOf),
    ...[...ofCampaigns].map(async ([campaignId, group]) => {
      const [first] = group;
      if (first === undefined || campaignId === undefined) return;
      await count(keys.campaignCounts(first.organizationId, campaignId), outcomeOf(group));
    }),
  ]);
}

function outcomeOf(messages: readonly MessageRecord[]): Partial<Tally> {
  const { sent, failed, cancelled, returnedMicros } = tallyOf(messages);
  return { sent, failed, cancelled, returnedMicros, spentMicros: -returnedMicros };
}

/** A change by a receipt: the message, and its delivery status before. */
export interface RecordedReceipt {
  readonly message: MessageRecord;
  readonly before: FinalDelivery | undefined;
}

/**
 * Counts receipts that have just changed something, with one write for each day and each campaign among them. Receipts of
 * test messages are not counted.
 */
export async function countReceipts(recorded: readonly RecordedReceipt[]): Promise<void> {
  const heard = recorded.filter(({ message }) => effectsOf(message).isCounted);
  const countersOf = ({ message }: RecordedReceipt): Key<"counts">[] => {
    const { organizationId, campaignId } = message;
    const ofDay = shardOf(message).counter;
    return campaignId === undefined ? [ofDay] : [ofDay, keys.campaignCounts(organizationId, campaignId)];
  };
  const changes = new Map<string, { readonly key: Key<"counts">; delivered: number; undelivered: number }>();
  for (const receipt of heard) {
    for (const key of countersOf(receipt)) {
      const name = `${key.pk} ${key.sk}`;
      const change = changes.get(name) ?? { key, delivered: 0, undelivered: 0 };
      const { deliveryStatus } = receipt.message;
      if (deliveryStatus === "delivered" || deliveryStatus === "undelivered") change[deliveryStatus] += 1;
      if (receipt.before === "undelivered") change.undelivered -= 1;
      changes.set(name, change);
    }
  }
  await Promise.all(
    [...changes.values()].map(async ({ key, ...change }) => count(key, change, {}, { alsoClosed: true })),
  );
}

/** Counts messages on the days on which they were accepted. */
async function countOnDays(
  messages: readonly MessageRecord[],
  changeOf: (ofDay: readonly MessageRecord[]) => Partial<Tally>,
): Promise<void> {
  const days = Map.groupBy(messages, (message) => {
    const { pk, sk } = shardOf(message).counter;
    return `${pk} ${sk}`;
  });
  await Promise.all(
    [...days.values()].map(async (ofDay) => {
      const [first] = ofDay;
      if (first === undefined) return;
      const { organizationId, day, counter } = shardOf(first);
      await count(counter, changeOf(ofDay), toBeClosed(organizationId, day));
    }),
  );
}

/** Makes sure that a day with accepted messages is counted once it is over, even if its counts were lost. */
export async function noteDay({ organizationId, day, counter }: DayShard): Promise<void> {
  const { set, setIfAbsent } = toBeClosed(organizationId, day);
  const changes = { set: { ...set, entity: "messageCounts" }, setIfAbsent, add: { changes: 0 } } as const;
  await updateItem(CountsRecord, updateOf(counter, changes, { absent: ["closedAt"] }));
}

/** The changes that list a day in the pending-work index until it is closed. */
export function toBeClosed(
  organizationId: string,
  day: string,
): Required<Pick<Changes<"counts">, "set" | "setIfAbsent">> {
  const overAt = Date.parse(`${day}T00:00:00.000Z`) + dayMs;
  return {
    set: { pendingWork: pendingWorkOf("CLOSE-DAY", organizationId) },
    setIfAbsent: { visitAt: new Date(overAt + countDayAfterMs).toISOString() },
  };
}

/** Defers the next visit of a day with messages that have not ended, until a moment in ISO 8601. */
export async function rescheduleDay(key: Key<"counts">, visitAt: string): Promise<void> {
  await updateItem(CountsRecord, updateOf(key, { set: { visitAt } }, { absent: ["closedAt"] }));
}

/** Adds to a counter. A failure is only logged, because the recount corrects the counter before it is closed. */
async function count(
  key: Key<"counts">,
  change: Partial<Tally>,
  { set, setIfAbsent = {} }: Pick<Changes<"counts">, "set" | "setIfAbsent"> = {},
  { alsoClosed = false } = {},
): Promise<void> {
  const add = Object.fromEntries(Object.entries(change).filter(([, amount]) => amount !== 0));
  try {
    await updateItem(
      CountsRecord,
      updateOf(
        key,
        { set: { entity: "messageCounts", ...set }, setIfAbsent, add: { ...add, changes: 1 } },
        // Receipts arrive long after all messages have ended.
        { absent: alsoClosed ? [] : ["closedAt"] },
      ),
      // A double count is as wrong as a missing one, and neither is worth a customer's wait.
      { bestEffort: true },
    );
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

/** Counts the statuses and prices of messages. */
export function tallyOf(messages: readonly MessageRecord[]): Tally {
  const tally = { ...emptyTally };
  for (const { status, refund, totalMicros, deliveryStatus } of messages) {
    tally.accepted += 1;
    if (deliveryStatus === "delivered" || deliveryStatus === "undelivered") tally[deliveryStatus] += 1;
    if (status !== "queued") tally[status] += 1;
    if (refund === undefined) tally.spentMicros += totalMicros;
    else tally.returnedMicros += totalMicros;
  }
  return tally;
}

/** Adds two tallies. */
export function sumOf(one: Tally, other: Tally): Tally {
  return {
    accepted: one.accepted + other.accepted,
    sent: one.sent + other.sent,
    failed: one.failed + other.failed,
    cancelled: one.cancelled + other.cancelled,
    delivered: one.delivered + other.delivered,
    undelivered: one.undelivered + other.undelivered,
    spentMicros: one.spentMicros + other.spentMicros,
    returnedMicros: one.returnedMicros + other.returnedMicros,
  };
}

/** Returns the share of `some` in `all`, to four digits; null if there are none. */
export function shareOf(some: number, all: number): number | null {
  return all === 0 ? null : Math.round((some / all) * 10_000) / 10_000;
}
