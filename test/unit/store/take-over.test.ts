import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, expect, it } from "vitest";

import { Database } from "../../../infra/local/store/database.ts";
import { Tables } from "../../../infra/local/store/tables.ts";
import { takeOver } from "../../../infra/local/store/take-over.ts";
import { definition, key, TableName } from "./own-store.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
});
afterEach(async () => rm(folder, { recursive: true }));

/** What an embedded DynamoDB of an older release has left. */
function writeOlderFile(olderFile: string): void {
  const older = new DatabaseSync(olderFile);
  older.exec(`
    CREATE TABLE _tables (table_name TEXT PRIMARY KEY, key_schema TEXT NOT NULL, attribute_definitions TEXT NOT NULL,
      gsi_definitions TEXT, ttl_attribute TEXT, ttl_enabled INTEGER DEFAULT 0);
    CREATE TABLE "${TableName}" (pk TEXT NOT NULL, sk TEXT NOT NULL DEFAULT '', item_json TEXT NOT NULL,
      item_size INTEGER NOT NULL, PRIMARY KEY (pk, sk));
    CREATE TABLE "numbers" (pk TEXT NOT NULL, sk TEXT NOT NULL DEFAULT '', item_json TEXT NOT NULL,
      item_size INTEGER NOT NULL, PRIMARY KEY (pk, sk));
  `);
  const insertTable = older.prepare("INSERT INTO _tables VALUES (?, ?, ?, ?, ?, ?)");
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = definition;
  insertTable.run(
    TableName,
    JSON.stringify(KeySchema),
    JSON.stringify(AttributeDefinitions),
    JSON.stringify(GlobalSecondaryIndexes),
    "expiresAt",
    1,
  );
  const id = [{ AttributeName: "id", KeyType: "HASH" }];
  const ofNumber = [{ AttributeName: "id", AttributeType: "N" }];
  insertTable.run("numbers", JSON.stringify(id), JSON.stringify(ofNumber), null, null, 0);
  for (const sk of ["1", "2"]) {
    const item = { ...key(sk), group: { S: "g" }, rank: { N: sk }, expiresAt: { N: "1800000000" } };
    older
      .prepare(`INSERT INTO "${TableName}" VALUES (?, ?, ?, 1)`)
      .run("S:a", `S:${sk}`, JSON.stringify(item));
  }
  older.prepare('INSERT INTO "numbers" VALUES (?, ?, ?, 1)').run("N:25", "", '{"id":{"N":"12"}}');
  older.close();
}

it("the data of an older release is taken over once, also after it was cut short", () => {
  const olderFile = path.join(folder, "dynamodb.sqlite");
  writeOlderFile(olderFile);
  const database = new Database(path.join(folder, "store.sqlite"));
  const tables = new Tables(database);
  // What an attempt has left that ended before its file was removed.
  tables.execute("CreateTable", definition);
  tables.execute("PutItem", { TableName, Item: key("left over") });
  expect(takeOver(tables, database, olderFile)).toBe(3);
  expect(tables.execute("Scan", { TableName, Select: "COUNT" })).toMatchObject({ Count: 2 });
  expect(tables.execute("GetItem", { TableName: "numbers", Key: { id: { N: "12" } } })).toEqual({
    Item: { id: { N: "12" } },
  });
  expect(tables.execute("Scan", { TableName, IndexName: "byGroup", Select: "COUNT" })).toMatchObject({
    Count: 2,
  });
  expect(tables.removeExpired(1_800_000_001, 10)).toBe(2);
  expect(existsSync(olderFile)).toBe(false);
  expect(takeOver(tables, database, olderFile)).toBe(0);
  database.close();
});
