import { dayMs, dayOf } from "../../platform/clock.ts";
import { firstIdAt, momentOf } from "../../platform/ids.ts";
import { itemsIn, mergeRows, rowsOf, type List } from "../../platform/table/lists.ts";
import { findTogether, queryContaining, type Row } from "../../platform/table/read.ts";
import { daySortKey, messageKey, shardsOf, type Shard, type Sharded } from "../../platform/table/shards.ts";
import { CountsRecord } from "../counts/counts.ts";
import { indexedDigits, SentToRecord } from "../counts/number-index.ts";
import { hasExpired, MessageRecord } from "../message/record.ts";

/*
 * Finds the messages to numbers that end with some digits. It reads the index, and all messages of the days that are not in it.
 * These are the present day, the day before until it is counted, and days of older releases.
 */

/** The messages that one request reads: 6 MB, and 750 read units. */
const maxRead = 10_000;

/** An item of the index, or a message that it names, costs about the read units of this number of messages in a query. */
const costOfRead = 10;

/** Messages that one request to DynamoDB reads: about 1 MB from the messages, or the most in a batch. */
const queriedTogether = 2_000;
const readTogether = 100;

/** Days of which one request reads the counters, or the most items of the index. */
const daysTogether = 100;

/** A range of the messages of a shard that the index has. */
interface Span {
  readonly from: string;
  readonly to: string;
  readonly items: readonly SentTo[];
}
type SentTo = { readonly entries: readonly string[] };

/**
 * Yields the messages of an organization to numbers that end with some digits, newest first.
 * @param digits at least four
 * @param limit how many messages are read in each shard; beyond them, the last row is cut off
 */
export function rowsOfNumber(
  sharded: Sharded,
  digits: string,
  { from = firstIdAt("msg", new Date(0)), to, after = to }: Pick<List, "after" | "from" | "to">,
  limit?: number,
): AsyncGenerator<Row<MessageRecord>, undefined> {
  const shards = shardsOf(sharded);
  const search = {
    ...sharded,
    digits,
    from,
    to: after ?? "msg_~",
    limit: limit ?? Math.ceil(maxRead / shards.length),
  };
  return mergeRows(
    shards.map((shard) => rowsIn(shard, search)),
    true,
  );
}

interface Search extends Sharded {
  readonly digits: string;
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly limit: number;
}

async function* rowsIn(shard: Shard, search: Search): AsyncGenerator<Row<MessageRecord>, undefined> {
  const { organizationId, digits, from, limit } = search;
  const isFound = ({ item }: Row<MessageRecord>): boolean => item?.to.endsWith(digits) === true;
  const range = { pk: shard.messages, newestFirst: true, limit: Math.min(limit, queriedTogether) };
  let { to } = search;
  let left = limit;
  for await (const span of spansOf(shard, search)) {
    while (to > span.to && left > 0) {
      const next = await queryContaining(MessageRecord, { ...range, from: span.to, after: to }, "to", digits);
      yield* next.rows.filter(isFound);
      left -= next.read;
      to = next.last ?? span.to;
    }
    const ids = idsIn(span, digits).filter((id) => id >= from && id < to);
    while (ids.length > 0 && left > 0) {
      const together = ids.splice(0, readTogether);
      const rows = await findTogether(
        MessageRecord,
        together.map((id) => messageKey({ organizationId, id })),
      );
      yield* rows.filter(isFound).toSorted((one, two) => (one.key.sk < two.key.sk ? 1 : -1));
      left -= together.length * costOfRead;
      to = together.at(-1) ?? to;
    }
    if (left > 0 && span.from < to) to = span.from;
    left -= span.items.length * costOfRead;
    if (to <= from) return undefined;
    if (left > 0) continue;
    yield { key: { pk: shard.messages, sk: asLongAsId(to) }, item: undefined, isCutOff: true };
    return undefined;
  }
  return undefined;
}

/** Yields the days that the index has, newest first, and an empty span at the end of the search. */
async function* spansOf({ counters, numbers }: Shard, { digits, from, to }: Search): AsyncGenerator<Span> {
  const [first, last] = [dayOfId(from), dayOfId(to)];
  const ofDays = { from: daySortKey(first), to: daySortKey(last), newestFirst: true };
  const days = daysIn(numbers, digits, first, last);
  let found = (await days.next()).value;
  for await (const { item } of rowsOf(CountsRecord, { pk: counters, ...ofDays }, daysTogether)) {
    if (item?.indexed === undefined || hasExpired(item.indexed)) continue;
    const day = item.sk.slice(daySortKey("").length);
    while (found !== undefined && found.day > day) found = (await days.next()).value;
    const start = firstIdAt("msg", new Date(item.indexed.since));
    yield {
      from: start < from ? from : start,
      to: firstIdAt("msg", new Date(Date.parse(day) + dayMs)),
      items: found?.day === day ? found.items : [],
    };
  }
  yield { from, to: from, items: [] };
}

/** Returns the day of an id or of its beginning. Moments after the year 9774, and other texts, sort after all days. */
function dayOfId(id: string): string {
  return /^msg_[0-6][0-9A-HJKMNP-TV-Z]{9}/.test(id) ? dayOf(momentOf(asLongAsId(id)).toISOString()) : "9999";
}

function asLongAsId(id: string): string {
  return id.padEnd("msg_".length + 26, "0");
}

/** Yields the items of the index in which a number can be, by their days, newest first. */
async function* daysIn(
  numbers: string,
  digits: string,
  first: string,
  last: string,
): AsyncGenerator<{ readonly day: string; readonly items: SentTo[] }, undefined> {
  let day: { readonly day: string; readonly items: SentTo[] } | undefined;
  const suffixes = [0, 1, 2].map((length) => `${digits.slice(digits.length - length)}#`);
  for await (const { key, item } of mergeRows(
    suffixes.map((suffix) => itemsOf(numbers, suffix, first, last)),
    true,
  )) {
    const dayOfItem = dayOf(key.sk);
    if (day !== undefined && day.day !== dayOfItem) yield day;
    if (day?.day !== dayOfItem) day = { day: dayOfItem, items: [] };
    if (item !== undefined) day.items.push(item);
  }
  if (day !== undefined) yield day;
  return undefined;
}

/** Yields the items with one suffix, and sort keys without it. @throws UnreadableRecordError, so that no message is missed */
async function* itemsOf(
  pk: string,
  suffix: string,
  first: string,
  last: string,
): AsyncGenerator<Row<SentTo>, undefined> {
  const range = { from: `${suffix}${first}`, to: `${suffix}${last}~` };
  const list = { pk, ...range, newestFirst: true, consistent: true };
  for await (const item of itemsIn(SentToRecord, list, daysTogether)) {
    yield { key: { pk, sk: item.sk.slice(suffix.length) }, item };
  }
}

/** Returns the ids of the messages that may have the number, newest first. */
function idsIn({ items }: Span, digits: string): string[] {
  const end = digits.slice(-indexedDigits);
  const entries = new Set(items.flatMap((item) => item.entries.filter((entry) => entry.startsWith(end))));
  return [...entries]
    .toSorted()
    .toReversed()
    .map((entry) => `msg_${entry.slice(indexedDigits)}`);
}
