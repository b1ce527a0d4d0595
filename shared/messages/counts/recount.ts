import { dayMs, dayOf, now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import type { Key } from "../../platform/table/keys.ts";
import { itemsIn, type List } from "../../platform/table/lists.ts";
import type { DayShard } from "../../platform/table/shards.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { hasExpired, idDelayMs, MessageRecord } from "../message/record.ts";
import { withoutUnpaid } from "../message/unpaid.ts";
import { CountsRecord } from "./counts.ts";
import {
  addFigures,
  figuresOf,
  marginsOf,
  nameOfMargin,
  noFigures,
  tallyOf,
  writeFigures,
  type Figures,
  type Margin,
  type Tally,
  type Usage,
} from "./figures.ts";
import { indexedDay, indexNumbers } from "./number-index.ts";
import { addTo } from "./rows.ts";

/*
 * Counts the messages themselves, which makes a counter exact.
 */

/** The size of one run: the number of batches, and the messages that each batch reads together. */
interface LookLimits {
  readonly batches: number;
  readonly batchSize: number;
}

const defaultLimits: LookLimits = { batches: 20, batchSize: 500 };

/** The messages of a recount: those of a period that it includes. */
export interface Recount {
  readonly messages: List["pk"];
  /** The key of their counter. */
  readonly counter: Key<"counts">;
  readonly from: Date;
  readonly to: Date;
  readonly includes: (message: MessageRecord) => boolean;
  /** Where the margins and the usage are recorded too, if it counts a day. */
  readonly ofDay?: DayShard;
  /** Whether its figures are final, because its messages are deleted next. Unreadable messages must not prevent that. */
  readonly isLast?: boolean;
}

/** Returns the recount of the messages of one day. */
export function messagesOfDay(shard: DayShard): Recount {
  const { messages, counter, day } = shard;
  const from = new Date(`${day}T00:00:00.000Z`);
  const to = new Date(from.getTime() + dayMs);
  const includes = ({ queuedAt }: MessageRecord): boolean => dayOf(queuedAt) === day;
  return { messages, counter, from, to, includes, ofDay: shard };
}

/**
 * The outcome of a run. `closed`: the counter is exact and final. `open`: some messages have not ended. `unfinished`: there
 * are more messages than one run reads, and another run has to continue.
 */
export type Look = "closed" | "open" | "unfinished";

/**
 * Counts the messages themselves. When all have ended, the result replaces the counter, and the counter is closed. An ended
 * message stays so; a later change has been counted already and is rejected. While some have not ended, the result replaces
 * the counter only if nothing changed in between.
 */
export async function recount(recounted: Recount, limits = defaultLimits): Promise<Look> {
  const { counter: key, includes, ofDay, isLast = false } = recounted;
  const counter = await noteLook(key);
  if (counter === undefined) return "closed";
  const { figures: counted, changes = counter.changes, after, isIndexed } = progressOf(counter);
  const maxRead = limits.batches * limits.batchSize;
  const read: MessageRecord[] = [];
  let isUnfinished = false;
  const list = { ...listOf(recounted), after, consistent: true, skipsUnreadable: isLast };
  for await (const message of itemsIn(MessageRecord, list, limits.batchSize)) {
    isUnfinished = read.length === maxRead;
    if (isUnfinished) break;
    read.push(message);
  }
  const included = await withoutUnpaid(read[0]?.organizationId ?? "", read.filter(includes));
  // The figures of a campaign are its tally.
  const more = ofDay === undefined ? { ...noFigures, tally: tallyOf(included) } : figuresOf(included);
  const { tally, ...others } = addFigures(counted, more);
  // The messages of a day are the same in each count, but for unpaid ones, which a search leaves out.
  const isToBeIndexed = ofDay !== undefined && counter.indexed === undefined && isIndexed;
  if (isToBeIndexed) await indexNumbers(ofDay, read, after);
  if (isUnfinished) {
    const set = { unfinished: { ...tally, after: read.at(-1)?.id, changes, ...others, isIndexed } };
    await updateItem(CountsRecord, updateOf(key, { set }, { absent: ["closedAt"] }));
    return "unfinished";
  }
  if (isToBeIndexed) {
    const set = { indexed: await indexedDay(ofDay) };
    await updateItem(CountsRecord, updateOf(key, { set }, { present: ["pk"] }));
  }
  const isFinal = isAtItsEnd(tally) && others.openFees === 0;
  if (ofDay !== undefined) await writeFigures(ofDay, others, isLast || isFinal);
  return replaceCounts(key, changes, tally, isFinal);
}

/** Calculates the margins of a day's messages that have not been counted. */
export async function readMarginsOfMessages(shard: DayShard): Promise<Margin[]> {
  const recounted = messagesOfDay(shard);
  const sums = new Map<string, Margin>();
  for await (const message of itemsIn(MessageRecord, listOf(recounted))) {
    if (!recounted.includes(message)) continue;
    for (const margin of marginsOf([message])) addTo(sums, nameOfMargin(margin), margin);
  }
  return [...sums.values()];
}

/** The usage of the newest messages of a day. */
interface NewestUsage {
  readonly usage: Usage;
  readonly read: number;
  /** When the oldest of them was accepted, if the day has more. */
  readonly since?: string;
}

/** Adds up the newest messages of a day that has not been counted. @param maxRead the most messages to read */
export async function readNewestUsage(
  shards: readonly [DayShard, ...DayShard[]],
  maxRead: number,
): Promise<NewestUsage> {
  const recounted = { ...messagesOfDay(shards[0]), messages: shards.map(({ messages }) => messages) };
  const read: MessageRecord[] = [];
  const list = { ...listOf(recounted), newestFirst: true, skipsUnreadable: true };
  let isCutOff = false;
  for await (const message of itemsIn(MessageRecord, list, Math.min(maxRead, defaultLimits.batchSize))) {
    isCutOff = read.length === maxRead;
    if (isCutOff) break;
    read.push(message);
  }
  const ofDay = read.filter((message) => recounted.includes(message) && !hasExpired(message));
  const included = await withoutUnpaid(shards[0].organizationId, ofDay);
  const since = isCutOff ? { since: included.at(-1)?.queuedAt ?? now().toISOString() } : {};
  return { usage: figuresOf(included).usage, read: read.length, ...since };
}

function listOf({ messages, from, to }: Recount): List {
  const end = new Date(to.getTime() + idDelayMs);
  return { pk: messages, from: firstIdAt("msg", from), to: firstIdAt("msg", end) };
}

/** Returns what a count has so far. Without the usage of the first messages by each name, it starts again. */
function progressOf({ unfinished }: CountsRecord): {
  readonly figures: Figures;
  readonly changes?: number;
  readonly after?: string | undefined;
  readonly isIndexed: boolean;
} {
  if (unfinished?.usage?.sender === undefined) return { figures: noFigures, isIndexed: true };
  const { after, changes, margins, usage, openFees, isIndexed = false, ...tally } = unfinished;
  return { figures: { tally, margins, usage, openFees }, changes, after, isIndexed };
}

/** Notes that a count begins. @returns the counter, or undefined when it is closed */
async function noteLook(key: Key<"counts">): Promise<CountsRecord | undefined> {
  const changes = {
    set: { entity: "messageCounts", lookedAt: now().toISOString() },
    // A missing counter is created, so that it can be closed.
    add: { changes: 0 },
  } as const;
  const noted = await updateItem(CountsRecord, updateOf(key, changes, { absent: ["closedAt"] }));
  return noted.applied ? noted.item : undefined;
}

async function replaceCounts(
  key: Key<"counts">,
  changes: number,
  tally: Tally,
  isFinal: boolean,
): Promise<Look> {
  const absent = ["closedAt"] as const;
  const remove = isFinal ? (["unfinished", "pendingWork", "visitAt"] as const) : (["unfinished"] as const);
  const { delivered, undelivered, ...ends } = tally;
  const countedAt = now().toISOString();
  const counted = { ...ends, countedAt, ...(isFinal ? { closedAt: countedAt } : {}) };
  const exact = { set: { ...counted, delivered, undelivered }, remove };
  const replaced = await updateItem(CountsRecord, updateOf(key, exact, { is: { changes }, absent }));
  if (!replaced.applied) {
    // The final states stay, whatever was counted in between. Receipts can change, and were counted as they arrived.
    const certain = isFinal ? { set: counted, remove } : { remove };
    await updateItem(CountsRecord, updateOf(key, certain, { absent }));
  }
  return isFinal ? "closed" : "open";
}

/** Whether all messages of a tally have ended; an ended message stays so. */
function isAtItsEnd({ accepted, sent, failed, cancelled }: Tally): boolean {
  return accepted === sent + failed + cancelled;
}
