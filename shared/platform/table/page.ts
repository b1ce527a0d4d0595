import type * as z from "zod/mini";

import { invalidField, type ApiError } from "../../api/contract/errors.ts";
import type { Page, PageMeta, PageQuery } from "../../api/contract/primitives.ts";
import { momentOf } from "../ids.ts";
import { rowsOf, type List } from "./lists.ts";
import { itemsOf, type Row, skipItems } from "./read.ts";

/*
 * Lists. A record that cannot be read is reported and left out of its page. The page is then shorter, and the next one
 * starts after that record.
 */

/**
 * Reads one page of a list, by page number or by cursor. `total` is the number of items in the list. It comes from a counter,
 * because DynamoDB would have to read all items.
 */
export async function readPage<Item>(
  schema: z.ZodMiniType<Item>,
  list: List,
  query: PageQuery,
  total: number,
): Promise<Page<Item>> {
  const { page, limit, cursor } = query;
  let after = cursor === undefined ? undefined : decodePosition(cursor, list);
  let toSkip = cursor === undefined ? (page - 1) * limit : 0;
  const [pk, ...others] = [list.pk].flat();
  if (pk !== undefined && others.length === 0 && toSkip > 0) {
    // A single partition counts items without reading them.
    after = await skipItems({ ...list, pk }, toSkip);
    if (after === undefined) return { rows: [], meta: pageMeta(query, total, undefined) };
    toSkip = 0;
  }
  const rows: Row<Item>[] = [];
  for await (const row of rowsOf(schema, { ...list, after }, limit + 1)) {
    toSkip -= 1;
    if (toSkip >= 0) continue;
    // One row more than the page has shows whether another page follows.
    if (rows.push(row) > limit) break;
  }
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: itemsOf(shown), meta: pageMeta(query, total, last?.key.sk) };
}

/** Items that a page with a filter examines: about 1 MB, the most that DynamoDB reads in one request. */
const maxExamined = 1_000;

/** Items that one request reads from each of several partitions. A page may need only a few. */
const examinedAtOnce = 250;

/**
 * Reads one page of the wanted items of a list that has no counter. A call examines the next `maxExamined` items, or more if
 * `most` allows that and the page is not full. `total` is the number of wanted ones among them, and `nextCursor` starts after
 * them. A page can therefore be short or empty although more follow.
 */
export async function readWantedPage<Item>(
  schema: z.ZodMiniType<Item>,
  list: List,
  query: PageQuery,
  isWanted: (item: Item) => boolean,
  { isPast = () => false, rowsIn, most = maxExamined }: WantedOptions<Item> = {},
): Promise<Page<Item>> {
  const after = query.cursor === undefined ? undefined : decodePosition(query.cursor, list);
  const atOnce = [list.pk].flat().length === 1 ? maxExamined : examinedAtOnce;
  const wanted: Row<Item>[] = [];
  let examined = 0;
  const start = query.cursor === undefined ? (query.page - 1) * query.limit : 0;
  const end = start + query.limit;
  let rest: Row<Item> | undefined;
  let isPartial = query.cursor !== undefined;
  for await (const row of rowsIn?.({ ...list, after }) ?? rowsOf(schema, { ...list, after }, atOnce)) {
    if (row.item !== undefined && isPast(row.item)) break;
    if (row.item !== undefined && isWanted(row.item)) wanted.push(row);
    examined += 1;
    const isFull = examined >= maxExamined && wanted.length > end;
    if (examined < most && !isFull && row.isCutOff !== true) continue;
    rest = row;
    isPartial = true;
    break;
  }
  const rows = wanted.slice(start, end);
  if (wanted.length > end) rest = rows.at(-1);
  const position = rest?.key.sk;
  // Sort keys that are ids begin with their time.
  const isTime = list.newestFirst === true && /^[a-z]{3}_\w{26,27}$/.test(position ?? "");
  const searched = isTime ? { searchedBackTo: momentOf(position ?? "").toISOString() } : {};
  const meta = pageMeta(query, wanted.length, position);
  return { rows: itemsOf(rows), meta: { ...meta, ...searched, ...(isPartial && { isPartial }) } };
}

interface WantedOptions<Item> {
  /** Whether no item after this one can be wanted. */
  readonly isPast?: (item: Item) => boolean;
  /** Reads the rows of the list in another way. It may stop early, and its last row is then cut off. */
  readonly rowsIn?: ((list: List) => AsyncIterable<Row<Item>>) | undefined;
  /** The most items that a call examines if its page is not full before. */
  readonly most?: number;
}

/** Items with several rows that one request reads. */
const groupsAtOnce = 25;

/** Reads one page of the rows of a list whose items have several rows each. The cursor names an item and a row in it. */
export async function readGroupedPage<Item, Shown>(
  schema: z.ZodMiniType<Item>,
  list: List,
  query: PageQuery,
  total: number,
  rowsIn: (item: Item) => readonly Shown[],
): Promise<Page<Shown>> {
  const position = query.cursor === undefined ? undefined : decodePosition(query.cursor, list);
  const [from = list.from ?? "", index = "none"] = position?.split(":") ?? [];
  if (position !== undefined && !/^\d{1,6}$/.test(index)) throw invalidCursor();
  let toSkip = position === undefined ? (query.page - 1) * query.limit : Number(index);
  const rows: Shown[] = [];
  for await (const { key, item } of rowsOf(schema, { ...list, from }, groupsAtOnce)) {
    for (const [place, row] of (item === undefined ? [] : rowsIn(item)).entries()) {
      toSkip -= 1;
      if (toSkip >= 0) continue;
      if (rows.length === query.limit) return { rows, meta: pageMeta(query, total, `${key.sk}:${place}`) };
      rows.push(row);
    }
  }
  return { rows, meta: pageMeta(query, total, undefined) };
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
function decodePosition(cursor: string, { from, to }: List): string {
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
