import type * as z from "zod/mini";

import { invalidField, type ApiError } from "../../contract/errors.ts";
import type { Page, PageMeta, PageQuery } from "../../contract/primitives.ts";
import { itemsOf, queryRows, skipItems, type Range, type Row } from "./table.ts";

/*
 * Lists. A record that cannot be read is reported and left out of its page. The page is then shorter, and the next one
 * starts after that record.
 */

/**
 * Reads one page of a range of items, by page number or by cursor. `total` is the number of items in the range. It comes from
 * a counter, because DynamoDB would have to read all items.
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
  // One row more than the page has shows whether another page follows.
  return pageOfRows(await queryRows(schema, { ...range, after, limit: limit + 1 }), query, total);
}

/** Makes a page of rows. One row more than the limit shows that another page follows. */
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

/** Reads one page of several partitions as one list, newest first. A single partition is read directly. */
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
    // One row more than the page has shows whether another page follows.
    if (rows.length > limit) break;
  }
  return pageOfRows(rows, query, total);
}

/** Yields the rows of a range, which are read in batches of its limit. */
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

/** Merges several ranges, each with the newest first, into one. */
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

/** Items that a page with a filter examines: about 1 MB, the most that DynamoDB reads in one request. */
const maxExamined = 1_000;

/** Items that one request reads from each of several partitions. A page may need only a few. */
const examinedAtOnce = 250;

/**
 * Reads one page of the wanted items of a range that has no counter. A call examines the next `maxExamined` items: `total` is
 * the number of wanted ones among them, and `nextCursor` starts after them. A page can therefore be short or empty although
 * more follow.
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

/** Reads one page of the wanted items of several partitions like `readWantedPage`, newest first. */
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

/** Makes a page of the wanted rows among those that a call examined. */
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

/** Returns one page of a list that is short enough to be read whole. */
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

/** Rejects a position outside the range, which DynamoDB would reject too. */
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
