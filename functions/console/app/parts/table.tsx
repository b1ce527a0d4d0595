import type { ComponentChildren, JSX } from "preact";

import { Loaded, type Pages } from "./load.tsx";
import { countText } from "./money.tsx";

export interface Column<Row> {
  readonly title: string;
  readonly show: (row: Row) => ComponentChildren;
  /** Right-aligned. */
  readonly isNumber?: true;
}

interface TableProps<Row> {
  /** The caption for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** A table, whose rows become cards on a narrow screen. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>): JSX.Element {
  return (
    <table class="table">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" class={isNumber === true ? "number" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, show, isNumber }) => (
              <td key={title} data-title={title} class={isNumber === true ? "number" : undefined}>
                <div>{show(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A customer's text in a cell: up to three lines, in its own direction. */
export function Clamped({ children, href }: { children: ComponentChildren; href?: string }): JSX.Element {
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

/** A paged list, or its empty state. */
export function PagedTable<Row>({
  pages,
  empty,
  ...table
}: Omit<TableProps<Row>, "rows"> & { pages: Pages<Row>; empty: ComponentChildren }): JSX.Element {
  return (
    <Loaded load={pages}>
      {({ rows, meta: { total, nextCursor } }) => (
        <>
          {rows.length === 0 ? null : <Table {...table} rows={rows} />}
          {rows.length === 0 && nextCursor === undefined ? empty : null}
          {nextCursor === undefined ? null : (
            <div class="row">
              <button type="button" aria-disabled={pages.isLoading} onClick={() => void pages.more()}>
                {pages.isLoading ? "Loading…" : "Load more"}
              </button>
              <span class="muted">
                {total > rows.length
                  ? `${countText(rows.length)} of ${countText(total)}`
                  : `${countText(rows.length)} so far; there may be more`}
              </span>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
