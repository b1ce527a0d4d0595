import type * as z from "zod/mini";

import { invalidField, type ApiError } from "../../contract/errors.ts";
import type { Page, PageMeta, PageQuery } from "../../contract/primitives.ts";
import { itemsOf, queryRows, skipItems, type Range, type Row } from "./table.ts";

/*
 * Lists. A record that cannot be read, which is reported, is left out of its page: the page is shorter, and the next one
 * goes on behind it.
 */

/**
 * One page of a range of items, by page number or by cursor. `total` is how many items the range has; the
 * caller knows it from a counter, for DynamoDB would have to read them all.
 */
export async function readPage<Item>(
  schema: z.ZodMiniType<Item>,
  range: Omit<Range, "after" | "limit">,
  query: PageQuery,
  total: number,
): Promise<Page<Item>> {
  const { page, limit, cursor } = query;
  const after = cursor === undefined ? await skipToPage(range, page, limit) : decodePosition(cursor, range);
  if (after === pastTheEnd) return { rows: [], meta: pageMeta(query, total, undefined) };
  // One more than asked for tells whether another page follows.
  return pageOfRows(await queryRows(schema, { ...range, after, limit: limit + 1 }), query, total);
}

/** A page of rows, of which there is one more than asked for where another page follows. */
function pageOfRows<Item>(rows: readonly Row<Item>[], query: PageQuery, total: number): Page<Item> {
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  return { rows: itemsOf(shown), meta: pageMeta(query, total, last?.key.sk) };
}

/** Partitions that are listed as one. */
export interface MergedRange {
  readonly pks: readonly string[];
  readonly consistent: boolean;
}

/** One page of what several partitions have, newest first whichever has it. A single one is read as such. */
export async function readMergedPage<Item>(
  schema: z.ZodMiniType<Item>,
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
  const rows: Row<Item>[] = [];
  for await (const row of merged(
    ranges.map((range) => inBatches(schema, { ...range, after, limit: limit + 1 })),
  )) {
    toSkip -= 1;
    if (toSkip >= 0) continue;
    rows.push(row);
    // One more than asked for tells whether another page follows.
    if (rows.length > limit) break;
  }
  return pageOfRows(rows, query, total);
}

/** The rows of a range, of which so many are read at once as its limit says. */
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

/** Several ranges, each with the newest first, as one such range. */
async function* merged<Item>(
  ranges: readonly AsyncGenerator<Row<Item>, undefined>[],
): AsyncGenerator<Row<Item>, undefined> {
  const heads = await Promise.all(ranges.map(async (rest) => ({ rest, row: (await rest.next()).value })));
  for (;;) {
    const [head] = heads
      .filter(({ row }) => row !== undefined)
      .toSorted((one, other) => ((one.row?.key.sk ?? "") < (other.row?.key.sk ?? "") ? 1 : -1));
    if (head?.row === undefined) return undefined;
    yield head.row;
    head.row = (await head.rest.next()).value;
  }
}

/** Items that a page with a filter looks at; some 1 MB of them, the most that DynamoDB reads at once. */
const maxExamined = 1_000;

/** Items that are read at once of each of several partitions, of which a page may need few. */
const examinedAtOnce = 250;

/**
 * One page of those items of a range that are wanted, for a range that nothing counts. A call looks at the next
 * `maxExamined` items: `total` is how many of those are wanted, and `nextCursor` goes on behind them, so a page
 * can be short, or empty, although more follows.
 */
export async function readWantedPage<Item>(
  schema: z.ZodMiniType<Item>,
  range: Omit<Range, "after" | "limit">,
  query: PageQuery,
  isWanted: (item: Item) => boolean,
): Promise<Page<Item>> {
  const after = query.cursor === undefined ? undefined : decodePosition(query.cursor, range);
  return wantedOf(await queryRows(schema, { ...range, after, limit: maxExamined }), query, isWanted);
}

/** One page of the wanted items of several partitions, in the way of `readWantedPage`, newest first whichever has them. */
export async function readWantedMergedPage<Item>(
  schema: z.ZodMiniType<Item>,
  { pks, consistent }: MergedRange,
  query: PageQuery,
  isWanted: (item: Item) => boolean,
): Promise<Page<Item>> {
  const ranges = pks.map((pk) => ({ pk, newestFirst: true, consistent }));
  const [first, ...others] = ranges;
  if (first !== undefined && others.length === 0) return readWantedPage(schema, first, query, isWanted);
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  const examined: Row<Item>[] = [];
  for await (const row of merged(
    ranges.map((range) => inBatches(schema, { ...range, after, limit: examinedAtOnce })),
  )) {
    examined.push(row);
    if (examined.length === maxExamined) break;
  }
  return wantedOf(examined, query, isWanted);
}

/** The page of those that are wanted of the rows that a call has looked at. */
function wantedOf<Item>(
  examined: readonly Row<Item>[],
  query: PageQuery,
  isWanted: (item: Item) => boolean,
): Page<Item> {
  const wanted = examined.filter(({ item }) => item !== undefined && isWanted(item));
  const start = query.cursor === undefined ? (query.page - 1) * query.limit : 0;
  const rows = wanted.slice(start, start + query.limit);
  const rest = examined.length === maxExamined ? examined.at(-1) : undefined;
  const last = wanted.length > start + query.limit ? rows.at(-1) : rest;
  return { rows: itemsOf(rows), meta: pageMeta(query, wanted.length, last?.key.sk) };
}

/** One page of a list that is short enough to be read whole. */
export function pageOf<Shown>(all: readonly Shown[], query: PageQuery): Page<Shown> {
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
  return invalidField("cursor", "must be the nextCursor of an earlier response");
}
