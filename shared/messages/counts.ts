import * as z from "zod";

import { dayMs, hourMs, minuteMs, now } from "../platform/clock.ts";
import { firstIdAt } from "../platform/ids.ts";
import { agendaFields, agendaOf } from "../platform/jobs/agenda.ts";
import { log } from "../platform/log.ts";
import { keys, messagesPartition, partOf, type Key } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryItems, queryRows, updateItem } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import { Margins, marginsOf, sumOfMargins, writeMargins } from "./margins.ts";
import { MessageRecord, type FinalDelivery } from "./record.ts";

/*
 * How many messages came to what end: counters for each day and each campaign, so that reading them costs the
 * same however many messages there are. A function that dies between a change and its count leaves a counter
 * wrong by what it did not count; when all has ended the messages themselves are counted, and the
 * counter is closed.
 */

const Tally = z.object({
  accepted: z.int().default(0),
  sent: z.int().default(0),
  failed: z.int().default(0),
  cancelled: z.int().default(0),
  /** Those of which a receipt has come at last. */
  delivered: z.int().default(0),
  undelivered: z.int().default(0),
  /** The prices of the messages, less those that were or are being returned. */
  spentMicros: z.int().default(0),
});
export type Tally = z.infer<typeof Tally>;

export const emptyTally: Tally = Tally.parse({});

export const CountsRecord = Tally.extend({
  entity: z.literal("messageCounts"),
  sk: z.string(),
  /** Grows with each change, so that a count of the messages themselves notices what came in between. */
  changes: z.int().default(0),
  /** When somebody last began to count the messages themselves. */
  lookedAt: z.string().optional(),
  /** How far a count of the messages has come that takes more than one look, and what `changes` was when it began. */
  unfinished: Tally.extend({
    part: z.string().default(""),
    after: z.string().optional(),
    changes: z.int(),
    margins: Margins.default([]),
  }).optional(),
  /** Since when the counts are exact and final. */
  closedAt: z.string().optional(),
  /** Of a day, until it is closed. */
  ...agendaFields,
});
export type CountsRecord = z.infer<typeof CountsRecord>;

/** How many messages one look takes: so many batches, each read at once. */
export interface LookLimits {
  readonly batches: number;
  readonly batchSize: number;
}

const defaultLimits: LookLimits = { batches: 20, batchSize: 500 };

/** An id is made a moment after the time that the message says it was queued at. */
const idDelayMs = minuteMs;

/** A day is counted when it has been over for so long: by then its last messages have ended. */
const countDayAfterMs = hourMs;

/** The UTC day that a message counts for: the one on which it was accepted. */
export function dayOf(moment: string): string {
  return moment.slice(0, "yyyy-mm-dd".length);
}

/** Counts messages that have just been accepted. */
export async function countAccepted(messages: readonly MessageRecord[]): Promise<void> {
  await countOnDays(messages, (ofDay) => ({
    accepted: ofDay.length,
    spentMicros: ofDay.reduce((sum, { totalMicros }) => sum + totalMicros, 0),
  }));
}

/** Counts messages that have just come to their end, with one write for each day and each campaign among them. */
export async function countOutcomes(messages: readonly MessageRecord[]): Promise<void> {
  // The id of a campaign is no other organisation's.
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
  const { sent, failed, cancelled, spentMicros } = tallyOf(messages);
  const pricesMicros = messages.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
  return { sent, failed, cancelled, spentMicros: spentMicros - pricesMicros };
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

/** Counts messages on the days on which they were accepted, each part of an organisation's messages apart. */
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
 * @param part of the organisation's messages
 */
export async function noteDay(organizationId: string, moment: string, part: string): Promise<void> {
  const key = keys.dayCounts(organizationId, dayOf(moment), part);
  const { set, setIfAbsent } = toBeClosed(organizationId, moment);
  const changes = { set: { entity: "messageCounts", ...set }, setIfAbsent, add: { changes: 0 } };
  await updateItem(CountsRecord, updateOf(key, changes, { absent: ["closedAt"] }));
}

/** What puts a day on the agenda of those that are to be closed. */
function toBeClosed(organizationId: string, moment: string): Required<Pick<Changes, "set" | "setIfAbsent">> {
  const overAt = Date.parse(`${dayOf(moment)}T00:00:00.000Z`) + dayMs;
  return {
    set: { agenda: agendaOf("CLOSE-DAY", organizationId) },
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

/** The counters of one organisation between two keys, in order; where nothing was counted there is none. */
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

/** The messages that a recount looks at: those that were accepted in a stretch of time and that it takes. */
export interface Recount {
  readonly organizationId: string;
  /** The parts of the organisation's messages that they are in. */
  readonly parts: readonly string[];
  readonly key: Key;
  readonly from: Date;
  readonly to: Date;
  readonly takes: (message: MessageRecord) => boolean;
  /** The day whose margins are written down with it, if it counts a day. */
  readonly day?: string;
}

/**
 * What a look at the messages found: the counter is exact and closed; some messages have not come to their end;
 * or there are more messages than one look takes, so that another one has to go on.
 */
export type Look = "closed" | "open" | "unfinished";

/**
 * Counts the messages themselves. When all have ended, and an ended message stays so, what it found takes
 * the place of the counter, and the counter is closed; a change that comes after that has been counted already and is
 * refused. While some have not, what it found takes the counter's place only if nothing changed in between.
 */
export async function recount(
  { organizationId, parts, key, from, to, takes, day }: Recount,
  limits = defaultLimits,
): Promise<Look> {
  const counter = await noteLook(key);
  if (counter === undefined) return "closed";
  const { unfinished } = counter;
  const changes = unfinished?.changes ?? counter.changes;
  let tally = Tally.parse(unfinished ?? emptyTally);
  let margins = unfinished?.margins ?? [];
  const range = {
    from: firstIdAt("msg", from),
    to: firstIdAt("msg", new Date(to.getTime() + idDelayMs)),
    limit: limits.batchSize,
    consistent: true,
  };
  let position = unfinished === undefined ? 0 : parts.indexOf(unfinished.part);
  let after = unfinished?.after;
  for (let batches = 0; batches < limits.batches; batches += 1) {
    const pk = messagesPartition(organizationId, parts[position] ?? "");
    const batch = await queryItems(MessageRecord, { ...range, pk, after });
    const taken = batch.filter((message) => takes(message));
    tally = sumOf(tally, tallyOf(taken));
    if (day !== undefined) margins = sumOfMargins([...margins, ...marginsOf(taken)]);
    after = batch.at(-1)?.id;
    if (batch.length === limits.batchSize) continue;
    position += 1;
    after = undefined;
    if (position < parts.length) continue;
    if (day !== undefined) {
      const [part = ""] = parts;
      await writeMargins({ day, organizationId, part }, margins, isAtItsEnd(tally));
    }
    return replaceCounts(key, changes, tally);
  }
  const set = { unfinished: { ...tally, part: parts[position], after, changes, margins } };
  await updateItem(CountsRecord, updateOf(key, { set }, { absent: ["closedAt"] }));
  return "unfinished";
}

/** Notes that the messages are looked at. @returns the counter, or undefined when it is closed */
async function noteLook(key: Key): Promise<CountsRecord | undefined> {
  const changes = {
    set: { entity: "messageCounts", lookedAt: now().toISOString() },
    // A counter that nothing was counted on is made, so that it can be closed.
    add: { changes: 0 },
  };
  const noted = await updateItem(CountsRecord, updateOf(key, changes, { absent: ["closedAt"] }));
  return noted.applied ? noted.item : undefined;
}

async function replaceCounts(key: Key, changes: number, tally: Tally): Promise<Look> {
  const absent = ["closedAt"];
  if (isAtItsEnd(tally)) {
    const remove = ["unfinished", "agenda", "lookAt"];
    const { delivered, undelivered, ...ends } = tally;
    const closed = { ...ends, closedAt: now().toISOString() };
    const exact = { set: { ...closed, delivered, undelivered }, remove };
    const replaced = await updateItem(CountsRecord, updateOf(key, exact, { is: { changes }, absent }));
    // The ends are final, whatever was counted in between; receipts, which are not, have been counted as they came.
    if (!replaced.applied) await updateItem(CountsRecord, updateOf(key, { set: closed, remove }, { absent }));
    return "closed";
  }
  const remove = ["unfinished"];
  const replaced = await updateItem(
    CountsRecord,
    updateOf(key, { set: tally, remove }, { is: { changes }, absent }),
  );
  if (!replaced.applied) await updateItem(CountsRecord, updateOf(key, { remove }, { absent }));
  return "open";
}

/** Whether all messages of a tally have ended; an ended message stays so. */
function isAtItsEnd({ accepted, sent, failed, cancelled }: Tally): boolean {
  return accepted === sent + failed + cancelled;
}

function tallyOf(messages: readonly MessageRecord[]): Tally {
  const tally = { ...emptyTally };
  for (const { status, refund, totalMicros, deliveryStatus } of messages) {
    tally.accepted += 1;
    if (deliveryStatus === "delivered" || deliveryStatus === "undelivered") tally[deliveryStatus] += 1;
    if (status !== "queued") tally[status] += 1;
    if (refund === undefined) tally.spentMicros += totalMicros;
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
  };
}

/** The share that some have of all, to four digits; null where there are none. */
export function shareOf(some: number, all: number): number | null {
  return all === 0 ? null : Math.round((some / all) * 10_000) / 10_000;
}
