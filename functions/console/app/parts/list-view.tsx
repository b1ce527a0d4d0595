import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { FilterForm, type Filters } from "./filter-form.tsx";
import type { Load } from "./load.tsx";
import { Page, Section, type PageProps } from "./page.tsx";
import { PagedTable, type PagedTableProps } from "./table.tsx";

interface ListProps<Row> extends Omit<PagedTableProps<Row>, "caption"> {
  readonly caption?: string;
  readonly filters?: Filters | undefined;
  /** Shown beside the heading of the list. */
  readonly listActions?: ComponentChildren;
}

/** A panel with a list, the form that narrows it, and a heading if there is one. */
export function List<Row extends object>({
  heading,
  listActions,
  filters,
  caption = `${heading}, newest first`,
  ...table
}: ListProps<Row> & { readonly heading: string | undefined }) {
  const content = (
    <>
      {filters === undefined ? null : <FilterForm {...filters} />}
      <PagedTable {...table} caption={caption} />
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
}: ListProps<Row> &
  Omit<PageProps, "children"> & {
    readonly heading?: string;
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

/** The object that a dialog of a list created last, and the handler that keeps a new one and reloads the list. */
export function useCreated<Created>({ reload }: Pick<Load<unknown>, "reload">) {
  const created = useSignal<Created | undefined>(undefined);
  const onCreated = async (made: Created): Promise<void> => {
    created.value = made;
    await reload();
  };
  return [created.value, onCreated] as const;
}
