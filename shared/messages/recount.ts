import { minuteMs, now } from "../platform/clock.ts";
import { firstIdAt } from "../platform/ids.ts";
import { messagesPartition, type Key } from "../platform/table/keys.ts";
import { queryItems, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { CountsRecord, emptyTally, sumOf, Tally, tallyOf } from "./counts.ts";
import { marginsOf, sumOfMargins, writeMargins } from "./margins.ts";
import { MessageRecord } from "./record.ts";

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
  readonly organizationId: string;
  /** The shards of the organization's messages that they are in. */
  readonly parts: readonly string[];
  readonly key: Key;
  readonly from: Date;
  readonly to: Date;
  readonly takes: (message: MessageRecord) => boolean;
  /** The day whose margins are recorded too, if it counts a day. */
  readonly day?: string;
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

/** Notes that a count begins. @returns the counter, or undefined when it is closed */
async function noteLook(key: Key): Promise<CountsRecord | undefined> {
  const changes = {
    set: { entity: "messageCounts", lookedAt: now().toISOString() },
    // A missing counter is created, so that it can be closed.
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
    const closedAt = now().toISOString();
    const closed = { ...ends, countedAt: closedAt, closedAt };
    const exact = { set: { ...closed, delivered, undelivered }, remove };
    const replaced = await updateItem(CountsRecord, updateOf(key, exact, { is: { changes }, absent }));
    // The final states stay, whatever was counted in between. Receipts can change, and were counted as they arrived.
    if (!replaced.applied) await updateItem(CountsRecord, updateOf(key, { set: closed, remove }, { absent }));
    return "closed";
  }
  const remove = ["unfinished"];
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
