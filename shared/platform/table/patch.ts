import type { Update } from "./table.ts";

/**
 * The changes of a PATCH as the parts of one update: a field that is undefined stays as it is, one that is
 * null is removed. Because nothing else is written, changes of other fields made at the same time are kept.
 */
export function patch(
  changes: Readonly<Record<string, unknown>>,
): Pick<Update, "update"> & Required<Pick<Update, "names" | "values">> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const set = given.filter(([, value]) => value !== null);
  const removed = given.filter(([, value]) => value === null);
  const clauses = [
    ...(set.length === 0 ? [] : [`SET ${set.map(([field]) => `#${field} = :${field}`).join(", ")}`]),
    ...(removed.length === 0 ? [] : [`REMOVE ${removed.map(([field]) => `#${field}`).join(", ")}`]),
  ];
  return {
    update: clauses.join(" "),
    names: Object.fromEntries(given.map(([field]) => [`#${field}`, field])),
    values: Object.fromEntries(set.map(([field, value]) => [`:${field}`, value])),
  };
}
