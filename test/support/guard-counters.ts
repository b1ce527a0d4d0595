import type { Key } from "../../shared/platform/table/keys.ts";
import type { Update } from "../../shared/platform/table/write.ts";

/* The counters of the guard in memory, for simulations with a hundred thousand writes. */

type Item = Readonly<Record<string, unknown>> & { readonly sk: string };
let items = new Map<string, Map<string, Item>>();

export function clearCounters(): void {
  items = new Map();
}

const empty = {
  unapproved: new Set<string>(),
  approved: new Set<string>(),
  undelivered: new Set<string>(),
};
const noCounts = { started: 0, approved: 0, undelivered: 0 };

/** Returns the items of an organization whose sort keys begin alike. */
function itemsOf(pk: string, sk: string): Map<string, Item> {
  const name = `${pk} ${sk.slice(0, sk.indexOf("#"))}`;
  const found = items.get(name) ?? new Map<string, Item>();
  items.set(name, found);
  return found;
}

/** Returns a set that its caller does not change. */
const setOf = (value: unknown): ReadonlySet<string> => (value instanceof Set ? value : new Set());

/** Replaces the reads of the table. */
export const reads = {
  findTogether: async (_schema: unknown, wanted: readonly Key[]) =>
    Promise.resolve(wanted.map((key) => ({ key, item: itemsOf(key.pk, key.sk).get(key.sk) }))),
  queryRows: async (_schema: unknown, { pk, from, limit }: { pk: string; from: string; limit: number }) => {
    const found = [...itemsOf(pk, from).values()].filter(({ sk }) => sk.startsWith(from));
    return Promise.resolve(
      found
        .toReversed()
        .slice(0, limit)
        .map((item) => ({ item })),
    );
  },
};

/** Replaces the writes of the table. */
export const writes = {
  updateItem: async (_schema: unknown, { key, changes, requires }: Update) => {
    const isCountry = key.sk.startsWith("COUNTRY");
    const found = itemsOf(key.pk, key.sk).get(key.sk) ?? { sk: key.sk, ...(isCountry ? noCounts : empty) };
    const isMissing = (name: string): boolean => !setOf(found["unapproved"]).has(name);
    if (Object.values(requires?.contains ?? {}).some((name) => isMissing(String(name)))) {
      return Promise.resolve({ applied: false, found });
    }
    const item: Record<string, unknown> & { sk: string } = { ...found, ...changes.set };
    for (const [field, added] of Object.entries(changes.add ?? {})) {
      item[field] =
        typeof added === "number" ? Number(item[field]) + added : setOf(item[field]).union(setOf(added));
    }
    for (const [field, taken] of Object.entries(changes.take ?? {})) {
      item[field] = setOf(item[field]).difference(setOf(taken));
    }
    itemsOf(key.pk, key.sk).set(key.sk, item);
    return Promise.resolve({ applied: true, item });
  },
};
