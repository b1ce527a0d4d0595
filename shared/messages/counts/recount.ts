import { dayMs, dayOf, minuteMs, now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import type { Key } from "../../platform/table/keys.ts";
import { itemsIn, type List } from "../../platform/table/lists.ts";
import type { DayShard } from "../../platform/table/shards.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { MessageRecord } from "../message/record.ts";
import { CountsRecord, emptyTally, sumOf, Tally, tallyOf } from "./counts.ts";
import { marginsOf, sumOfMargins, writeMargins } from "./margins.ts";
import { noUsage, sumOfUsage, usageOf, writeUsage } from "./usage.ts";

/*
 * Counts the messages themselves, which makes a counter exact.
 */

/** The size of one run: the number of batches, and the messages that each batch reads together. */
interface LookLimits {
  readonly batches: number;
  readonly batchSize: number;
}

const defaultLimits: LookLimits = { batches: 20, batchSize: 500 };

/** The longest time from `queuedAt` of a message until its id is made. */
const idDelayMs = minuteMs;

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
export async function recount(
  { messages, counter: key, from, to, includes, ofDay }: Recount,
  limits = defaultLimits,
): Promise<Look> {
  const counter = await noteLook(key);
  if (counter === undefined) return "closed";
  // Without the usage of the first messages, the count starts again.
  const unfinished = counter.unfinished?.usage === undefined ? undefined : counter.unfinished;
  const changes = unfinished?.changes ?? counter.changes;
  const list = {
    pk: messages,
    from: firstIdAt("msg", from),
    to: firstIdAt("msg", new Date(to.getTime() + idDelayMs)),
    after: unfinished?.after,
    consistent: true,
  };
  const maxRead = limits.batches * limits.batchSize;
  const read: MessageRecord[] = [];
  let isUnfinished = false;
  for await (const message of itemsIn(MessageRecord, list, limits.batchSize)) {
    isUnfinished = read.length === maxRead;
    if (isUnfinished) break;
    read.push(message);
  }
  const included = read.filter((message) => includes(message));
  const tally = sumOf(Tally.parse(unfinished ?? emptyTally), tallyOf(included));
  const before = unfinished?.margins ?? [];
  const margins = ofDay === undefined ? [] : sumOfMargins([...before, ...marginsOf(included)]);
  const usage = ofDay === undefined ? noUsage : sumOfUsage(unfinished?.usage ?? noUsage, usageOf(included));
  if (isUnfinished) {
    const set = { unfinished: { ...tally, after: read.at(-1)?.id, changes, margins, usage } };
    await updateItem(CountsRecord, updateOf(key, { set }, { absent: ["closedAt"] }));
    return "unfinished";
  }
  if (ofDay !== undefined) {
    await writeMargins(ofDay, margins, isAtItsEnd(tally));
    await writeUsage(ofDay, usage, isAtItsEnd(tally));
  }
  return replaceCounts(key, changes, tally);
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

async function replaceCounts(key: Key<"counts">, changes: number, tally: Tally): Promise<Look> {
  const absent = ["closedAt"] as const;
  if (isAtItsEnd(tally)) {
    const remove = ["unfinished", "pendingWork", "visitAt"] as const;
    const { delivered, undelivered, ...ends } = tally;
    const closedAt = now().toISOString();
    const closed = { ...ends, countedAt: closedAt, closedAt };
    const exact = { set: { ...closed, delivered, undelivered }, remove };
    const replaced = await updateItem(CountsRecord, updateOf(key, exact, { is: { changes }, absent }));
    // The final states stay, whatever was counted in between. Receipts can change, and were counted as they arrived.
    if (!replaced.applied) await updateItem(CountsRecord, updateOf(key, { set: closed, remove }, { absent }));
    return "closed";
  }
  const remove = ["unfinished"] as const;
  const replaced = await updateItem(
    CountsRecord,
    updateOf(key, { set: { ...tally, countedAt: now().toISOString() }, remove }, { is: { changes }, absent }),
  );
  if (!replaced.applied) await updateItem(CountsRecord, updateOf(key, { remove }, { absent }));
  return "open";
}

/** Whether all messages of a tally have ended; an ended message stays so. */
function isAtItsEnd({ accepted, sent, failed, cancelled }: Tally): boolean {
  return accepted === sent + failed + cancelled;
}
