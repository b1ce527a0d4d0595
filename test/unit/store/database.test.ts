import fs, { copyFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Database } from "../../../infra/local/store/database.ts";
import { Tables } from "../../../infra/local/store/tables.ts";
import { patience } from "../../support/patience.ts";
import { definition, key, TableName } from "./own-store.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  file = path.join(folder, "store.sqlite");
});
afterEach(async () => rm(folder, { recursive: true }));

/** How many items another connection sees, which sees what is committed. */
function committedItems(): unknown {
  const reader = new DatabaseSync(file, { readOnly: true });
  const row = reader.prepare("SELECT count(*) AS items FROM items").get();
  reader.close();
  return row?.["items"];
}

/** Calls back when the disk has all writes so far. */
function whenAllKept(database: Database, callback: () => void): void {
  database.whenKept(database.unkeptGroup ?? 0, callback);
}

it("the writes that someone waits for in one iteration of the event loop are committed together", async () => {
  const database = new Database(file);
  const tables = new Tables(database);
  tables.execute("CreateTable", definition);
  database.commit();
  const seen: unknown[] = [];
  for (const sk of ["1", "2", "3"]) {
    tables.execute("PutItem", { TableName, Item: key(sk) });
    whenAllKept(database, () => seen.push(committedItems()));
  }
  expect([seen, committedItems()]).toEqual([[], 0]);
  await vi.waitFor(() => expect(seen).toEqual([3, 3, 3]), patience);
  // With nothing open there is nothing to wait for.
  whenAllKept(database, () => seen.push("immediately"));
  expect(seen.at(-1)).toBe("immediately");
  database.close();
});

it("writes that no one waits for are committed too, and a group that grew during a sync has the next one", async () => {
  const database = new Database(file);
  const tables = new Tables(database);
  tables.execute("CreateTable", definition);
  await vi.waitFor(() => expect(database.unkeptGroup).toBeUndefined(), patience);
  tables.execute("PutItem", { TableName, Item: key("1") });
  const kept: string[] = [];
  whenAllKept(database, () => kept.push("first"));
  database.commit();
  tables.execute("PutItem", { TableName, Item: key("2") });
  whenAllKept(database, () => kept.push("second"));
  expect([kept, committedItems()]).toEqual([[], 1]);
  await vi.waitFor(() => expect(kept).toEqual(["first", "second"]), patience);
  expect(committedItems()).toBe(2);
  database.close();
});

it("commits of a process that was killed are on the disk before the next one shows them", () => {
  const killed = new Database(file);
  new Tables(killed).execute("CreateTable", definition);
  killed.commit();
  const copy = path.join(folder, "copy.sqlite");
  for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, `${copy}${end}`);
  const sync = vi.spyOn(fs, "fdatasyncSync");
  syncBuiltinESMExports();
  new Database(copy).close();
  const synced = sync.mock.calls.length;
  sync.mockRestore();
  syncBuiltinESMExports();
  // At the start and at the end.
  expect(synced).toBe(2);
  killed.close();
});

it("closing keeps what is open and what the disk is writing", () => {
  const database = new Database(file);
  const tables = new Tables(database);
  tables.execute("CreateTable", definition);
  database.commit();
  tables.execute("PutItem", { TableName, Item: key("1") });
  database.close();
  expect(committedItems()).toBe(1);
});

it("writes that are flushed before a commit are a part of it", () => {
  const database = new Database(file);
  const tables = new Tables(database);
  tables.execute("CreateTable", definition);
  database.beforeCommit(() => void tables.execute("PutItem", { TableName, Item: key("flushed") }));
  database.commit();
  expect(committedItems()).toBe(1);
  database.close();
});

it("all data is there after a restart", () => {
  const first = new Database(file);
  const before = new Tables(first);
  before.execute("CreateTable", definition);
  before.execute("UpdateTimeToLive", {
    TableName,
    TimeToLiveSpecification: { Enabled: true, AttributeName: "expiresAt" },
  });
  const Item = { ...key(), group: { S: "g" }, rank: { N: "1" }, text: { S: "a\u0000\u{1f600}" } };
  before.execute("PutItem", { TableName, Item });
  first.close();

  const second = new Database(file);
  const tables = new Tables(second);
  expect(tables.execute("GetItem", { TableName, Key: key() })).toEqual({ Item });
  expect(tables.execute("Scan", { TableName, IndexName: "byGroup", Select: "COUNT" })).toMatchObject({
    Count: 1,
  });
  expect(tables.execute("DescribeTimeToLive", { TableName })).toEqual({
    TimeToLiveDescription: { TimeToLiveStatus: "ENABLED", AttributeName: "expiresAt" },
  });
  second.close();
});

it("after a write that failed halfway, no write of its group is kept or acknowledged, and later writes fail", async () => {
  const database = new Database(file);
  const tables = new Tables(database);
  tables.execute("CreateTable", definition);
  database.commit();
  tables.execute("PutItem", { TableName, Item: key("1") });
  let isAnswered = false;
  whenAllKept(database, () => (isAnswered = true));
  // Like a disk that accepts the item, and not the entry of its index.
  database.sqlite.exec(
    "CREATE TEMP TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'full'); END",
  );
  const Item = { ...key("2"), group: { S: "g" }, rank: { N: "1" } };
  expect(() => tables.execute("PutItem", { TableName, Item })).toThrow("full");
  await turn();
  expect(() => tables.execute("PutItem", { TableName, Item: key("3") })).toThrow("the store has failed");
  expect([isAnswered, committedItems()]).toEqual([false, 0]);
  database.close();
});
