import type * as z from "zod/mini";

import { queryRows, type Range, type Row } from "./read.ts";
import { UnreadableRecordError } from "./records.ts";

/** A list of items in the order of their sort keys. Several partitions are read as one list. */
export interface List extends Omit<Range, "index" | "limit" | "pk"> {
  readonly pk: string | readonly string[];
  /** Whether `itemsIn` leaves out items that cannot be read. They are reported. */
  readonly skipsUnreadable?: boolean;
}

/** Items in memory at the same time. */
const itemsInMemory = 500;

/** Concurrent writes. */
const maxTogether = 25;

/**
 * Yields the rows of a list. An unreadable record is reported, and its row has no item.
 * @param batchSize the number of rows that one request reads from each partition
 */
export async function* rowsOf<Item>(
  schema: z.ZodMiniType<Item>,
  list: List,
  batchSize = itemsInMemory,
): AsyncGenerator<Row<Item>, undefined> {
  const rests = [list.pk].flat().map((pk) => inBatches(schema, { ...list, pk, limit: batchSize }));
  const [first, ...others] = rests;
  // Most organizations have one shard, whose rows need no merge.
  yield* first !== undefined && others.length === 0 ? first : mergeRows(rests, list.newestFirst);
}

/** Yields the rows of several lists as one, in the order of their sort keys. */
export async function* mergeRows<Item>(
  lists: readonly AsyncGenerator<Row<Item>, undefined>[],
  newestFirst = false,
): AsyncGenerator<Row<Item>, undefined> {
  const heads = await Promise.all(lists.map(async (rest) => ({ rest, row: (await rest.next()).value })));
  const order = newestFirst ? -1 : 1;
  for (;;) {
    const [head] = heads
      .filter(({ row }) => row !== undefined)
      .toSorted((one, other) => ((one.row?.key.sk ?? "") > (other.row?.key.sk ?? "") ? order : -order));
    if (head?.row === undefined) return undefined;
    yield head.row;
    head.row = (await head.rest.next()).value;
  }
}

async function* inBatches<Item>(
  schema: z.ZodMiniType<Item>,
  range: Range,
): AsyncGenerator<Row<Item>, undefined> {
  let { after } = range;
  for (;;) {
    const batch = await queryRows(schema, { ...range, after });
    yield* batch;
    if (batch.length < range.limit) return undefined;
    after = batch.at(-1)?.key.sk;
  }
}

/**
 * Yields the items of a list, for callers that must not skip any, such as those that add up money.
 * @throws UnreadableRecordError in the place of an item that cannot be read, unless the list skips it
 */
export async function* itemsIn<Item>(
  schema: z.ZodMiniType<Item>,
  list: List,
  batchSize = itemsInMemory,
): AsyncGenerator<Item, undefined> {
  for await (const { key, item } of rowsOf(schema, list, batchSize)) {
    if (item !== undefined) yield item;
    else if (list.skipsUnreadable !== true) throw new UnreadableRecordError(key);
  }
}

/** Returns the first items of a list, as `itemsIn` yields them. */
export async function firstItems<Item>(
  schema: z.ZodMiniType<Item>,
  list: List,
  limit: number,
): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of itemsIn(schema, list, limit)) if (found.push(item) === limit) break;
  return found;
}

/** Runs `work` for each item of a partition or of several, or only for a range of them, some concurrently. */
export async function forEachOf<Item>(
  schema: z.ZodMiniType<Item>,
  pk: List["pk"],
  work: (item: Item) => Promise<void>,
  range: Pick<List, "from" | "to"> = {},
): Promise<void> {
  let together: Item[] = [];
  for await (const item of itemsIn(schema, { pk, ...range, consistent: true })) {
    together.push(item);
    if (together.length < maxTogether) continue;
    await Promise.all(together.map(work));
    together = [];
  }
  await Promise.all(together.map(work));
}
