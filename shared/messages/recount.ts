import { minuteMs, now } from "../platform/clock.ts";
import { firstIdAt } from "../platform/ids.ts";
import { messagesPartition, type Key } from "../platform/table/keys.ts";
import { queryItems, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { CountsRecord, emptyTally, sumOf, Tally, tallyOf } from "./counts.ts";
import { marginsOf, sumOfMargins, writeMargins } from "./margins.ts";
import { MessageRecord } from "./record.ts";

/*
 * Counting the messages themselves, which makes a counter exact.
 */

/** How many messages one look takes: so many batches, each read at once. */
export interface LookLimits {
  readonly batches: number;
  readonly batchSize: number;
}

const defaultLimits: LookLimits = { batches: 20, batchSize: 500 };

/** An id is made a moment after the time that the message says it was queued at. */
const idDelayMs = minuteMs;

/** The messages that a recount looks at: those that were accepted in a stretch of time and that it takes. */
export interface Recount {
  readonly organizationId: string;
  /** The parts of the organization's messages that they are in. */
  readonly parts: readonly string[];
  readonly key: Key;
  readonly from: Date;
  readonly to: Date;
  readonly takes: (message: MessageRecord) => boolean;
  /** The day whose margins are written down with it, if it counts a day. */
  readonly day?: string;
}

/**
 * What a look at the messages found: the counter is exact and closed; some messages have not ended;
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
    const closedAt = now().toISOString();
    const closed = { ...ends, countedAt: closedAt, closedAt };
    const exact = { set: { ...closed, delivered, undelivered }, remove };
    const replaced = await updateItem(CountsRecord, updateOf(key, exact, { is: { changes }, absent }));
    // The ends are final, whatever was counted in between; receipts, which are not, have been counted as they came.
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
