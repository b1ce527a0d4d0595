import type { ComponentChildren } from "preact";

import { FilterForm, type Filters } from "./filter-form.tsx";
import { Page, Section, type PageProps } from "./page.tsx";
import { PagedTable, type PagedTableProps } from "./table.tsx";

interface ListProps<Row> extends Omit<PagedTableProps<Row>, "keyOf"> {
  /** By default the ID of a row. */
  readonly keyOf?: (row: Row) => string;
  readonly filters?: Filters | undefined;
  /** Shown beside the heading of the list. */
  readonly listActions?: ComponentChildren;
}

/** A panel with a list, the form that narrows it, and a heading if there is one. */
export function List<Row extends object>({
  heading,
  listActions,
  filters,
  keyOf = idOf,
  ...table
}: ListProps<Row> & { readonly heading: string | undefined }) {
  const content = (
    <>
      {filters === undefined ? null : <FilterForm {...filters} />}
      <PagedTable {...table} keyOf={keyOf} />
    </>
  );
  if (heading === undefined) return <div class="panel">{content}</div>;
  return (
    <Section title={heading} actions={listActions}>
      {content}
    </Section>
  );
}

/** A view that consists of a list. Without filters, the list has a heading, which is the title by default. */
export function ListView<Row extends object>({
  title,
  lead,
  back,
  actions,
  filters,
  heading = filters === undefined ? title : undefined,
  caption = `${title}, newest first`,
  above,
  below,
  ...list
}: Omit<ListProps<Row>, "caption"> &
  Omit<PageProps, "children"> & {
    readonly heading?: string;
    readonly caption?: string;
    readonly above?: ComponentChildren;
    readonly below?: ComponentChildren;
  }) {
  return (
    <Page title={title} lead={lead} back={back} actions={actions}>
      {above}
      <List {...list} filters={filters} heading={heading} caption={caption} />
      {below}
    </Page>
  );
}

function idOf(row: object): string {
  return "id" in row ? String(row.id) : "";
}
