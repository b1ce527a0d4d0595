import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";

import { attribute, isEqual, itemSize, type Item } from "./attribute-values.ts";
import type { Database } from "./database.ts";
import { placeInIndex, placeOf, type Place, type SortableKey } from "./places.ts";
import type { Index, Table } from "./table-definitions.ts";

/** A stored item. */
export interface StoredItem {
  readonly id: number;
  readonly item: Item;
  /** In bytes, see itemSize. */
  readonly size: number;
}

/** The sizes by which the capacity of a write is counted. */
export interface WriteResult {
  readonly oldSize: number;
  readonly newSize: number;
  /** The write units of the entries of indexes that it changed. */
  readonly indexUnits: number;
}

const schema = `
  CREATE TABLE IF NOT EXISTS tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, hash NOT NULL, range NOT NULL,
    item TEXT NOT NULL, size INTEGER NOT NULL, expires_at INTEGER
  );
  CREATE UNIQUE INDEX IF NOT EXISTS items_by_key ON items (table_id, hash, range);
  CREATE INDEX IF NOT EXISTS items_by_expiry ON items (table_id, expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS entries (
    index_id INTEGER NOT NULL, hash NOT NULL, range NOT NULL, item_hash NOT NULL, item_range NOT NULL,
    item_id INTEGER NOT NULL, PRIMARY KEY (index_id, hash, range, item_hash, item_range)
  ) WITHOUT ROWID;
`;

const writeUnitBytes = 1_024;

/** Items and the entries of their indexes as rows of SQLite. */
export class Rows {
  readonly #database: Database;
  readonly #statements = new Map<string, StatementSync>();
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;
  readonly #insertEntry: StatementSync;
  readonly #deleteEntry: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    const { sqlite } = database;
    sqlite.exec(schema);
    this.#find = sqlite.prepare(
      "SELECT id, item, size FROM items WHERE table_id = ? AND hash = ? AND range = ?",
    );
    this.#insert = sqlite.prepare(
      "INSERT INTO items (table_id, hash, range, item, size, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#update = sqlite.prepare("UPDATE items SET item = ?, size = ?, expires_at = ? WHERE id = ?");
    this.#delete = sqlite.prepare("DELETE FROM items WHERE id = ?");
    this.#insertEntry = sqlite.prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)");
    this.#deleteEntry = sqlite.prepare(
      "DELETE FROM entries WHERE index_id = ? AND hash = ? AND range = ? AND item_hash = ? AND item_range = ?",
    );
  }

  get sqlite(): DatabaseSync {
    return this.#database.sqlite;
  }

  /** Returns a prepared statement. All are kept: the code has a few dozen. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  find(table: Table, { hash, range }: Place): StoredItem | undefined {
    const row = this.#find.get(table.id, hash, range);
    return row === undefined ? undefined : storedItem(row);
  }

  /**
   * Writes an item, or deletes one.
   * @param old the stored item at this place
   * @param item undefined deletes it
   */
  write(
    table: Table,
    place: Place,
    old: StoredItem | undefined,
    { item, size: newSize }: { readonly item: Item | undefined; readonly size: number },
  ): WriteResult {
    const changes = table.indexes.map((index) => indexChange(index, old?.item, item));
    this.#database.beginWrite();
    this.#database.guard(() => {
      const id = this.#writeItem(table, place, old, item, newSize);
      for (const change of changes) this.#writeEntry(change, place, id);
    });
    const indexUnits = changes.reduce((sum, { units }) => sum + units, 0);
    return { oldSize: old?.size ?? 0, newSize, indexUnits };
  }

  /** Adds the entries of a new index. */
  fillIndex(table: Table, index: Index): void {
    this.#database.beginWrite();
    this.#database.guard(() => {
      const rows = this.statement("SELECT id, hash, range, item, size FROM items WHERE table_id = ?");
      for (const row of rows.iterate(table.id)) {
        const place = placeIfValid(storedItem(row).item, index);
        if (place === undefined) continue;
        this.#insertEntry.run(
          index.id,
          place.hash,
          place.range,
          column(row["hash"]),
          column(row["range"]),
          column(row["id"]),
        );
      }
    });
  }

  /** Recalculates when items expire. */
  fillExpiries(table: Table): void {
    this.#database.beginWrite();
    this.#database.guard(() => {
      const set = this.statement("UPDATE items SET expires_at = ? WHERE id = ?");
      for (const row of this.statement("SELECT id, item, size FROM items WHERE table_id = ?").all(table.id)) {
        const { id, item } = storedItem(row);
        set.run(expiryOf(table, item), id);
      }
    });
  }

  /** Removes items that expire between two times, in seconds since the epoch. @returns the number of removed items */
  removeExpired(
    table: Table,
    { after, before, limit }: { readonly after: number; readonly before: number; readonly limit: number },
  ): number {
    const expired = this.statement(
      "SELECT id, item, size FROM items WHERE table_id = ? AND expires_at > ? AND expires_at < ? ORDER BY expires_at LIMIT ?",
    ).all(table.id, after, before, limit);
    for (const row of expired) {
      const stored = storedItem(row);
      this.write(table, placeOf(stored.item, table), stored, { item: undefined, size: 0 });
    }
    return expired.length;
  }

  #writeItem(
    table: Table,
    { hash, range }: Place,
    old: StoredItem | undefined,
    item: Item | undefined,
    size: number,
  ): number {
    if (item === undefined) {
      if (old !== undefined) this.#delete.run(old.id);
      return old?.id ?? 0;
    }
    const text = JSON.stringify(item);
    const expiresAt = expiryOf(table, item);
    if (old === undefined) {
      return Number(this.#insert.run(table.id, hash, range, text, size, expiresAt).lastInsertRowid);
    }
    this.#update.run(text, size, expiresAt, old.id);
    return old.id;
  }

  #writeEntry({ index, from, to }: IndexChange, { hash, range }: Place, itemId: number): void {
    if (from !== undefined && to !== undefined && isSamePlace(from, to)) return;
    if (from !== undefined) this.#deleteEntry.run(index.id, from.hash, from.range, hash, range);
    if (to !== undefined) this.#insertEntry.run(index.id, to.hash, to.range, hash, range, itemId);
  }
}

/** Returns the item in a row with its id, text and size. */
export function storedItem(row: Record<string, unknown>): StoredItem {
  return { id: Number(row["id"]), item: JSON.parse(String(row["item"])), size: Number(row["size"]) };
}

function column(value: SQLOutputValue | undefined): SQLInputValue {
  return value ?? null;
}

/** Returns when an item expires, in seconds since the epoch. */
function expiryOf({ stored: { timeToLive } }: Table, item: Item): number | null {
  const value = timeToLive === undefined ? undefined : attribute(item, timeToLive);
  return value !== undefined && "N" in value ? Math.floor(Number(value.N)) : null;
}

interface IndexChange {
  readonly index: Index;
  readonly from: Place | undefined;
  readonly to: Place | undefined;
  readonly units: number;
}

/** @throws ServiceError for a new item with an invalid key for the index */
function indexChange(index: Index, old: Item | undefined, item: Item | undefined): IndexChange {
  const from = old === undefined ? undefined : placeInIndex(old, index);
  const to = item === undefined ? undefined : placeInIndex(item, index);
  const isSame = from !== undefined && to !== undefined && isSamePlace(from, to);
  // The key of an item never changes, so its entry is the same.
  if (isSame && index.definition.Projection.ProjectionType === "KEYS_ONLY")
    return { index, from, to, units: 0 };
  const removed = from === undefined || old === undefined ? {} : projectedItem(index, old);
  const added = to === undefined || item === undefined ? {} : projectedItem(index, item);
  if (!isSame) return { index, from, to, units: unitsOf(removed) + unitsOf(added) };
  const isChanged = !isEqual({ M: removed }, { M: added });
  return { index, from, to, units: isChanged ? Math.max(unitsOf(removed), unitsOf(added)) : 0 };
}

/** Returns the attributes of an item that an index projects. */
export function projectedItem({ projected }: Index, item: Item): Item {
  if (projected === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => projected.has(name)));
}

function unitsOf(item: Item): number {
  return Math.ceil(itemSize(item) / writeUnitBytes);
}

function isSamePlace(one: Place, other: Place): boolean {
  return isSameKey(one.hash, other.hash) && isSameKey(one.range, other.range);
}

function isSameKey(one: SortableKey, other: SortableKey): boolean {
  return typeof one === "string" || typeof other === "string"
    ? one === other
    : Buffer.compare(one, other) === 0;
}

/** Returns undefined for an item that is older than the index and has an invalid key for it. */
function placeIfValid(item: Item, index: Index): Place | undefined {
  try {
    return placeInIndex(item, index);
  } catch {
    return undefined;
  }
}
