import * as z from "zod/mini";

import { dayMs, dayOf, hourMs } from "../platform/clock.ts";
import { pendingWorkFields, pendingWorkOf } from "../platform/jobs/pending-work.ts";
import { log } from "../platform/log.ts";
import { keys, partOf, type Key } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows, updateItem } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import { Margins } from "./margins.ts";
import type { FinalDelivery, MessageRecord } from "./record.ts";

/*
 * How many messages came to what end: counters for each day and each campaign, so that reading them costs the
 * same however many messages there are. A function that dies between a change and its count leaves a counter
 * wrong by what it did not count; when the day is over the messages themselves are counted (`recount.ts`), and
 * the counter is closed once all of them have ended.
 *
 * Accepted messages are not counted here: the debit that pays for them counts them in the wallet, for the wallet's
 * present day. When the wallet moves on to the next day, the figures of the day before are noted in that day's counter.
 * Until the messages have been counted they may include debits that came to no message.
 */

export const Tally = z.object({
  accepted: z._default(z.int(), 0),
  sent: z._default(z.int(), 0),
  failed: z._default(z.int(), 0),
  cancelled: z._default(z.int(), 0),
  /** Those of which a receipt has come at last. */
  delivered: z._default(z.int(), 0),
  undelivered: z._default(z.int(), 0),
  /** The prices of the messages, less those that were or are being returned; see `accepted-of-day.ts`. */
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
   * Of a day that is over: what its organization's wallet counted, in the counter of the first part for all parts. Without
   * meaning once the messages have been counted.
   */
  acceptedByWallet: z._default(z.int(), 0),
  acceptedByWalletMicros: z._default(z.int(), 0),
  /** Grows with each change, so that a count of the messages themselves notices what came in between. */
  changes: z._default(z.int(), 0),
  /** When somebody last began to count the messages themselves. */
  lookedAt: z.optional(z.string()),
  /** How far a count of the messages has come that takes more than one look, and what `changes` was when it began. */
  unfinished: z.optional(
    z.extend(Tally, {
      part: z._default(z.string(), ""),
      after: z.optional(z.string()),
      changes: z.int(),
      margins: z._default(Margins, []),
    }),
  ),
  /** When `accepted` and `spentMicros` became those of the messages; later changes are added to them. */
  countedAt: z.optional(z.string()),
  /** Since when the counts are exact and final. */
  closedAt: z.optional(z.string()),
  /** Of a day, until it is closed. */
  ...pendingWorkFields,
});
export type CountsRecord = z.infer<typeof CountsRecord>;

/** A day is counted when it has been over for so long: by then its last messages have ended. */
const countDayAfterMs = hourMs;

/** Counts messages that have just come to their end, with one write for each day and each campaign among them. */
export async function countOutcomes(messages: readonly MessageRecord[]): Promise<void> {
  // The id of a campaign is no other organization's.
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

/** What a receipt has changed: a message, and what receipts had said of it before. */
export interface HeardReceipt {
  readonly message: MessageRecord;
  readonly before: FinalDelivery | undefined;
}

/** Counts receipts that have just changed something, with one write for each day and each campaign among them. */
export async function countReceipts(heard: readonly HeardReceipt[]): Promise<void> {
  const countersOf = ({ message }: HeardReceipt): Key[] => {
    const { organizationId, queuedAt, id, campaignId } = message;
    const ofDay = keys.dayCounts(organizationId, dayOf(queuedAt), partOf(id));
    return campaignId === undefined ? [ofDay] : [ofDay, keys.campaignCounts(organizationId, campaignId)];
  };
  const changes = new Map<string, { readonly key: Key; delivered: number; undelivered: number }>();
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

/** Counts messages on the days on which they were accepted, each part of an organization's messages apart. */
async function countOnDays(
  messages: readonly MessageRecord[],
  changeOf: (ofDay: readonly MessageRecord[]) => Partial<Tally>,
): Promise<void> {
  const days = Map.groupBy(
    messages,
    ({ organizationId, queuedAt, id }) => `${organizationId} ${dayOf(queuedAt)} ${partOf(id)}`,
  );
  await Promise.all(
    [...days.values()].map(async (ofDay) => {
      const [first] = ofDay;
      if (first === undefined) return;
      const { organizationId, queuedAt, id } = first;
      const key = keys.dayCounts(organizationId, dayOf(queuedAt), partOf(id));
      await count(key, changeOf(ofDay), toBeClosed(organizationId, queuedAt));
    }),
  );
}

/**
 * Makes sure that a day on which something was accepted is counted once it is over, though its counts were lost.
 * @param part of the organization's messages
 */
export async function noteDay(organizationId: string, moment: string, part: string): Promise<void> {
  const key = keys.dayCounts(organizationId, dayOf(moment), part);
  const { set, setIfAbsent } = toBeClosed(organizationId, moment);
  const changes = { set: { entity: "messageCounts", ...set }, setIfAbsent, add: { changes: 0 } };
  await updateItem(CountsRecord, updateOf(key, changes, { absent: ["closedAt"] }));
}

/** What puts a day on the agenda of those that are to be closed. */
export function toBeClosed(
  organizationId: string,
  moment: string,
): Required<Pick<Changes, "set" | "setIfAbsent">> {
  const overAt = Date.parse(`${dayOf(moment)}T00:00:00.000Z`) + dayMs;
  return {
    set: { agenda: pendingWorkOf("CLOSE-DAY", organizationId) },
    setIfAbsent: { lookAt: new Date(overAt + countDayAfterMs).toISOString() },
  };
}

/** Puts off the next look at a day that is not at its end, until a moment in ISO 8601. */
export async function lookAtDayAgain(key: Key, lookAt: string): Promise<void> {
  await updateItem(CountsRecord, updateOf(key, { set: { lookAt } }, { absent: ["closedAt"] }));
}

/** A count that fails is made good when the counter is closed; what it counts has happened all the same. */
async function count(
  key: Key,
  change: Partial<Tally>,
  { set, setIfAbsent = {} }: Pick<Changes, "set" | "setIfAbsent"> = {},
  { alsoClosed = false } = {},
): Promise<void> {
  const add = Object.fromEntries(Object.entries(change).filter(([, amount]) => amount !== 0));
  try {
    await updateItem(
      CountsRecord,
      updateOf(
        key,
        { set: { entity: "messageCounts", ...set }, setIfAbsent, add: { ...add, changes: 1 } },
        // Receipts come when all messages have long come to their end.
        { absent: alsoClosed ? [] : ["closedAt"] },
      ),
      // Counted twice is as wrong as not counted, and neither is worth a customer's wait.
      { bestEffort: true },
    );
  } catch (error) {
    log.warn("message.count_failed", { error });
  }
}

/** The counters of one organization between two keys, in order; where nothing was counted there is none. */
export async function readCounts(range: {
  readonly from: Key;
  readonly to: Key;
  readonly limit: number;
}): Promise<CountsRecord[]> {
  const { from, to, limit } = range;
  return itemsOf(await queryRows(CountsRecord, { pk: from.pk, from: from.sk, to: to.sk, limit }));
}

/** What is counted of one campaign; undefined while nothing has ended. */
export async function findCampaignCounts(
  organizationId: string,
  campaignId: string,
): Promise<CountsRecord | undefined> {
  return findItem(CountsRecord, keys.campaignCounts(organizationId, campaignId));
}

/** What messages count for. */
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

/** Two tallies as one. */
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

/** The share that some have of all, to four digits; null where there are none. */
export function shareOf(some: number, all: number): number | null {
  return all === 0 ? null : Math.round((some / all) * 10_000) / 10_000;
}
