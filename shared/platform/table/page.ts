import type * as z from "zod";

import { invalidField, type ApiError } from "../../contract/errors.ts";
import type { Page, PageMeta, PageQuery } from "../../contract/primitives.ts";
import { queryItems, skipItems, type Range } from "./table.ts";

/**
 * One page of a range of items, by page number or by cursor. `total` is how many items the range has; the
 * caller knows it from a counter, for DynamoDB would have to read them all.
 */
export async function readPage<Item extends { sk: string }>(
  schema: z.ZodType<Item>,
  range: Omit<Range, "after" | "limit">,
  query: PageQuery,
  total: number,
): Promise<Page<Item>> {
  const { page, limit, cursor } = query;
  const after = cursor === undefined ? await skipToPage(range, page, limit) : decodePosition(cursor, range);
  if (after === pastTheEnd) return { rows: [], meta: pageMeta(query, total, undefined) };
  // One item more than asked for tells whether another page follows.
  const rows = await queryItems(schema, { ...range, after, limit: limit + 1 });
  const more = rows.length > limit;
  if (more) rows.pop();
  return { rows, meta: pageMeta(query, total, more ? rows.at(-1)?.sk : undefined) };
}

/** Partitions that are listed as one. */
export interface MergedRange {
  readonly pks: readonly string[];
  readonly consistent: boolean;
}

/** One page of what several partitions have, newest first whichever has it. A single one is read as such. */
export async function readMergedPage<Item extends { sk: string }>(
  schema: z.ZodType<Item>,
  { pks, consistent }: MergedRange,
  query: PageQuery,
  total: number,
): Promise<Page<Item>> {
  const ranges = pks.map((pk) => ({ pk, newestFirst: true, consistent }));
  const [first, ...others] = ranges;
  if (first === undefined) return { rows: [], meta: pageMeta(query, total, undefined) };
  if (others.length === 0) return readPage(schema, first, query, total);
  const { page, limit, cursor } = query;
  const after = cursor === undefined ? undefined : decodePosition(cursor, first);
  let toSkip = cursor === undefined ? (page - 1) * limit : 0;
  const rows: Item[] = [];
  for await (const item of merged(
    ranges.map((range) => inBatches(schema, { ...range, after, limit: limit + 1 })),
  )) {
    toSkip -= 1;
    if (toSkip >= 0) continue;
    rows.push(item);
    // One item more than asked for tells whether another page follows.
    if (rows.length > limit) break;
  }
  const more = rows.length > limit;
  if (more) rows.pop();
  return { rows, meta: pageMeta(query, total, more ? rows.at(-1)?.sk : undefined) };
}

/** The items of a range, of which so many are read at once as its limit says. */
async function* inBatches<Item extends { sk: string }>(
  schema: z.ZodType<Item>,
  range: Range,
): AsyncGenerator<Item, undefined> {
  let { after } = range;
  for (;;) {
    const batch = await queryItems(schema, { ...range, after });
    yield* batch;
    if (batch.length < range.limit) return undefined;
    after = batch.at(-1)?.sk;
  }
}

/** The items of several rows, each with the newest first, as one such row. */
async function* merged<Item extends { sk: string }>(
  rows: readonly AsyncGenerator<Item, undefined>[],
): AsyncGenerator<Item, undefined> {
  const heads = await Promise.all(rows.map(async (row) => ({ row, item: (await row.next()).value })));
  for (;;) {
    const [head] = heads
      .filter(({ item }) => item !== undefined)
      .toSorted((one, other) => ((one.item?.sk ?? "") < (other.item?.sk ?? "") ? 1 : -1));
    if (head?.item === undefined) return undefined;
    yield head.item;
    head.item = (await head.row.next()).value;
  }
}

/** Items that a page with a filter looks at; some 1 MB of them, the most that DynamoDB reads at once. */
const maxExamined = 1_000;

/**
 * One page of those items of a range that are wanted, for a range that nothing counts. A call looks at the next
 * `maxExamined` items: `total` is how many of those are wanted, and `nextCursor` goes on behind them, so a page
 * can be short, or empty, although more follows.
 */
export async function readWantedPage<Item extends { sk: string }>(
  schema: z.ZodType<Item>,
  range: Omit<Range, "after" | "limit">,
  query: PageQuery,
  isWanted: (item: Item) => boolean,
): Promise<Page<Item>> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  const examined = await queryItems(schema, { ...range, after, limit: maxExamined });
  const wanted = examined.filter(isWanted);
  const start = query.cursor === undefined ? (query.page - 1) * query.limit : 0;
  const rows = wanted.slice(start, start + query.limit);
  const rest = examined.length === maxExamined ? examined.at(-1) : undefined;
  const last = wanted.length > start + query.limit ? rows.at(-1) : rest;
  return { rows, meta: pageMeta(query, wanted.length, last?.sk) };
}

/** One page of a list that is short enough to be read whole. */
export function pageOf<Row>(all: readonly Row[], query: PageQuery): Page<Row> {
  const start = query.cursor === undefined ? (query.page - 1) * query.limit : decodeIndex(query.cursor);
  const end = start + query.limit;
  return {
    rows: all.slice(start, end),
    meta: pageMeta(query, all.length, end < all.length ? String(end) : undefined),
  };
}

const pastTheEnd = Symbol("past the end");

async function skipToPage(
  range: Omit<Range, "after" | "limit">,
  page: number,
  limit: number,
): Promise<string | typeof pastTheEnd | undefined> {
  if (page === 1) return undefined;
  return (await skipItems(range, (page - 1) * limit)) ?? pastTheEnd;
}

function pageMeta(query: PageQuery, total: number, position: string | undefined): PageMeta {
  return {
    ...(query.cursor === undefined ? { page: query.page } : {}),
    limit: query.limit,
    total,
    totalPages: Math.ceil(total / query.limit),
    ...(position === undefined ? {} : { nextCursor: Buffer.from(position).toString("base64url") }),
  };
}

/** DynamoDB refuses to go on from a place outside of the range. */
function decodePosition(cursor: string, { from, to }: Omit<Range, "after" | "limit">): string {
  const position = decodeCursor(cursor);
  if ((from !== undefined && position < from) || (to !== undefined && position > to)) throw invalidCursor();
  return position;
}

function decodeCursor(cursor: string): string {
  const position = Buffer.from(cursor, "base64url").toString();
  if (!/^[\w.:#-]+$/.test(position)) throw invalidCursor();
  return position;
}

function decodeIndex(cursor: string): number {
  const position = decodeCursor(cursor);
  if (!/^\d{1,6}$/.test(position)) throw invalidCursor();
  return Number(position);
}

function invalidCursor(): ApiError {
  return invalidField("cursor", "must be the nextCursor of an earlier answer");
}
