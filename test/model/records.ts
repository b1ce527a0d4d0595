import type { MemoryTable } from "./memory-table.ts";

/** Returns the records of an entity in a table, in the order of their first writes. */
export function recordsOf<Found>(
  table: MemoryTable,
  schema: { readonly parse: (item: unknown) => Found },
  entity: string,
): Found[] {
  return itemsOf(table, entity).map((item) => schema.parse(item));
}

/** Returns the items of an entity in a table. */
export function itemsOf(table: MemoryTable, entity: string): Readonly<Record<string, unknown>>[] {
  return table.all().filter((item) => item["entity"] === entity);
}
