import type { ComponentChildren } from "preact";

import { Loaded, rowsPerPage, type Pages } from "./load.tsx";
import { countText } from "./money.tsx";
import { Time } from "./time.tsx";

type Show<Row> = (row: Row) => ComponentChildren;

/** The columns of a table by their titles. A column of numbers is right-aligned. */
export type Columns<Row> = Readonly<Record<string, Show<Row> | { readonly number: Show<Row> }>>;

/** Rows under common titles. */
interface Groups<Row> {
  readonly nameOf: (row: Row) => string;
  /** @param isWhole whether the table has all rows of the group */
  readonly title: (name: string, rows: readonly Row[], isWhole: boolean) => ComponentChildren;
}

interface TableProps<Row> {
  /** The caption for screen readers. */
  readonly caption: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  /** By default the ID of a row. */
  readonly keyOf?: (row: Row) => string;
  readonly groups?: Groups<Row>;
  /** Whether rows follow that are not loaded yet. */
  readonly hasMore?: boolean;
  /** Shown instead of a table without rows: what the list is for, and what to do next. */
  readonly empty?: {
    readonly title: string;
    readonly hint?: ComponentChildren;
    readonly action?: ComponentChildren;
  };
}

/** A table, whose rows become cards on a narrow screen. */
export function Table<Row extends object>({
  caption,
  columns,
  rows,
  keyOf = idOf,
  groups,
  hasMore = false,
  empty,
}: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) {
    return (
      <div class="empty">
        <p class="title">{empty.title}</p>
        {empty.hint === undefined ? null : <p>{empty.hint}</p>}
        {empty.action}
      </div>
    );
  }
  const shown = Object.entries(columns).map(([title, column]) =>
    typeof column === "function"
      ? { title, show: column, look: undefined }
      : { title, show: column.number, look: "number" },
  );
  const parts = [...Map.groupBy(rows, (row) => groups?.nameOf(row) ?? "")];
  return (
    <table class="table">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {shown.map(({ title, look }) => (
            <th key={title} scope="col" class={look}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      {parts.map(([name, rowsOfPart], index) => (
        <tbody key={name}>
          {groups === undefined ? null : (
            <tr class="group">
              <th colSpan={shown.length} scope="rowgroup">
                <div class="row apart">
                  {groups.title(name, rowsOfPart, !hasMore || index < parts.length - 1)}
                </div>
              </th>
            </tr>
          )}
          {rowsOfPart.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ title, show, look }) => (
                <td key={title} data-title={title} class={look}>
                  <div>{show(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

/** @throws Error for a row without an ID, whose table needs a `keyOf` */
function idOf(row: object): string {
  if ("id" in row && typeof row.id === "string") return row.id;
  throw new Error("a row has no ID");
}

/** A customer's text in a cell: up to three lines, in its own direction. */
export function Clamped({ children, href }: { children: ComponentChildren; href?: string }) {
  return href === undefined ? (
    <span class="clamp" dir="auto">
      {children}
    </span>
  ) : (
    <a class="clamp" dir="auto" href={href}>
      {children}
    </a>
  );
}

export interface PagedTableProps<Row> extends Omit<TableProps<Row>, "hasMore" | "rows"> {
  readonly pages: Pages<Row>;
}

/** A paged list, or its empty state. */
export function PagedTable<Row extends object>({ pages, ...table }: PagedTableProps<Row>) {
  return (
    <Loaded load={pages}>
      {({ rows, meta: { total, nextCursor, searchedBackTo } }) => (
        <>
          {rows.length === 0 && nextCursor !== undefined ? (
            <p role="status">Nothing found yet. Older ones have not been searched.</p>
          ) : (
            <Table {...table} rows={rows} hasMore={nextCursor !== undefined} />
          )}
          {nextCursor === undefined ? null : (
            <div class="row">
              <button type="button" aria-disabled={pages.isLoading} onClick={() => void pages.more()}>
                {pages.isLoading ? "Loading…" : "Load more"}
              </button>
              <span class="muted">
                {total > rows.length
                  ? `${countText(rows.length)} of ${countText(total)}`
                  : `${countText(rows.length)} so far; there may be more`}
                {searchedBackTo === undefined ||
                (rows.length % rowsPerPage === 0 && rows.length > 0) ? null : (
                  <>
                    . Searched back to <Time at={searchedBackTo} />
                  </>
                )}
              </span>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
