import * as z from "zod";

import { minuteMs, now } from "../platform/clock.ts";
import { firstIdAt } from "../platform/ids.ts";
import { keys, type Key } from "../platform/keys.ts";
import { log } from "../platform/log.ts";
import { queryItems, readItem, updateItem } from "../platform/table.ts";
import { MessageRecord } from "./message.ts";

/*
 * How many messages came to what end: counters for each day and each campaign, so that reading them costs the
 * same however many messages there are. A function that dies between a change and its count leaves a counter
 * wrong by one; when all has come to its end the messages themselves are counted, and the counter is closed.
 */

const Tally = z.object({
  accepted: z.int().default(0),
  sent: z.int().default(0),
  failed: z.int().default(0),
  cancelled: z.int().default(0),
  /** The prices of the messages, less those that were or are being returned. */
  spentMicros: z.int().default(0),
});
type Tally = z.infer<typeof Tally>;

export const CountsRecord = Tally.extend({
  entity: z.literal("messageCounts"),
  sk: z.string(),
  /** Grows with each change, so that a count of the messages themselves notices what came in between. */
  changes: z.int().default(0),
  /** When the messages themselves were counted last. */
  countedAt: z.string().optional(),
  /** Since when the counts are exact and final. */
  closedAt: z.string().optional(),
});
export type CountsRecord = z.infer<typeof CountsRecord>;

/** Messages that are read at once when they are counted. */
const batchSize = 500;

/** An id is made a moment after the time that the message says it was queued at. */
const idDelayMs = minuteMs;

/** The UTC day that a message counts for: the one on which it was accepted. */
export function dayOf(moment: string): string {
  return moment.slice(0, "yyyy-mm-dd".length);
}

/** Counts messages that have just been accepted, all of one organisation and one moment. */
export async function countAccepted(messages: readonly MessageRecord[]): Promise<void> {
  const [first] = messages;
  if (first === undefined) return;
  const spentMicros = messages.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
  const change = { accepted: messages.length, spentMicros };
  await count(keys.dayCounts(first.organizationId, dayOf(first.queuedAt)), change);
}

/** Counts a message that has just come to its end. */
export async function countOutcome(message: MessageRecord): Promise<void> {
  const { organizationId, campaignId, queuedAt } = message;
  const change = tallyOf([message]);
  const outcome = {
    sent: change.sent,
    failed: change.failed,
    cancelled: change.cancelled,
    spentMicros: change.spentMicros - message.totalMicros,
  };
  await Promise.all([
    count(keys.dayCounts(organizationId, dayOf(queuedAt)), outcome),
    ...(campaignId === undefined ? [] : [count(keys.campaignCounts(organizationId, campaignId), outcome)]),
  ]);
}

/** A count that fails is made good when the counter is closed; what it counts has happened all the same. */
async function count(key: Key, change: Partial<Tally>): Promise<void> {
  const additions = Object.entries(change).filter(([, amount]) => amount !== 0);
  const names = additions.map(([name]) => `${name} :${name}`).join(", ");
  const values = Object.fromEntries(additions.map(([name, amount]) => [`:${name}`, amount]));
  try {
    await updateItem(
      CountsRecord,
      {
        key,
        update: `SET entity = :entity ADD changes :one, ${names}`,
        condition: "attribute_not_exists(closedAt)",
        values: { ":entity": "messageCounts", ":one": 1, ...values },
      },
      // Counted twice is as wrong as not counted.
      { singleEffect: true },
    );
  } catch (error) {
    log.warn("message.count_failed", { error });
  }
}

/** The counts of an organisation's days from one to another, oldest first; days without a message have none. */
export async function readDayCounts(
  organizationId: string,
  days: { readonly from: string; readonly to: string; readonly limit: number },
): Promise<CountsRecord[]> {
  return queryItems(CountsRecord, {
    pk: keys.dayCounts(organizationId, days.from).pk,
    from: keys.dayCounts(organizationId, days.from).sk,
    to: keys.dayCounts(organizationId, days.to).sk,
    limit: days.limit,
  });
}

/** The counts of an organisation's campaigns from one id to another; those without an outcome yet have none. */
export async function readCampaignCounts(
  organizationId: string,
  campaignIds: { readonly from: string; readonly to: string; readonly limit: number },
): Promise<CountsRecord[]> {
  return queryItems(CountsRecord, {
    pk: keys.campaignCounts(organizationId, campaignIds.from).pk,
    from: keys.campaignCounts(organizationId, campaignIds.from).sk,
    to: keys.campaignCounts(organizationId, campaignIds.to).sk,
    limit: campaignIds.limit,
  });
}

/** The messages that a recount looks at: those that were accepted in a stretch of time and that it takes. */
export interface Recount {
  readonly organizationId: string;
  readonly key: Key;
  readonly from: Date;
  readonly to: Date;
  readonly takes: (message: MessageRecord) => boolean;
}

/**
 * Counts the messages themselves and puts what it found in the place of the counter. When all have come to
 * their end the counter is closed; a change that comes after that has been counted already and is refused.
 * @returns whether the counter is exact and closed
 */
export async function recount({ organizationId, key, from, to, takes }: Recount): Promise<boolean> {
  const before = await readItem(CountsRecord, key, { consistent: true });
  if (before?.closedAt !== undefined) return true;
  const tally = Tally.parse({});
  const range = {
    pk: keys.message(organizationId, "").pk,
    from: firstIdAt("msg", from),
    to: firstIdAt("msg", new Date(to.getTime() + idDelayMs)),
    limit: batchSize,
    consistent: true,
  };
  let after: string | undefined;
  do {
    const batch = await queryItems(MessageRecord, { ...range, after });
    add(tally, tallyOf(batch.filter((message) => takes(message))));
    after = batch.length < batchSize ? undefined : batch.at(-1)?.id;
  } while (after !== undefined);
  const isAtItsEnd = tally.accepted === tally.sent + tally.failed + tally.cancelled;
  const replaced = await updateItem(CountsRecord, {
    key,
    update:
      "SET entity = :entity, accepted = :accepted, sent = :sent, failed = :failed, cancelled = :cancelled, " +
      `spentMicros = :spentMicros, changes = :changes, countedAt = :at${isAtItsEnd ? ", closedAt = :at" : ""}`,
    condition: before === undefined ? "attribute_not_exists(pk)" : "changes = :changes",
    values: {
      ":entity": "messageCounts",
      ":accepted": tally.accepted,
      ":sent": tally.sent,
      ":failed": tally.failed,
      ":cancelled": tally.cancelled,
      ":spentMicros": tally.spentMicros,
      ":changes": before?.changes ?? 0,
      ":at": now().toISOString(),
    },
  });
  return replaced.applied && isAtItsEnd;
}

function tallyOf(messages: readonly MessageRecord[]): Tally {
  const tally = Tally.parse({});
  for (const { status, refund, totalMicros } of messages) {
    tally.accepted += 1;
    if (status !== "queued") tally[status] += 1;
    if (refund === undefined) tally.spentMicros += totalMicros;
  }
  return tally;
}

function add(total: Tally, more: Tally): void {
  total.accepted += more.accepted;
  total.sent += more.sent;
  total.failed += more.failed;
  total.cancelled += more.cancelled;
  total.spentMicros += more.spentMicros;
}
