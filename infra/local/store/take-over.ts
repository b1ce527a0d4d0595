import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import type { Database } from "./database.ts";
import { ServiceError } from "./service-error.ts";
import type { Tables } from "./tables.ts";

/** So many items are written in one commit. */
const maxItemsInCommit = 1_000;

/**
 * Takes over, once, what the embedded DynamoDB of releases up to 0.2.0 (dynoxide) has kept: its tables, their items and
 * which attribute they expire by. The file is removed when all of it is committed; a take-over that was cut short is
 * done again from the start.
 * @param file of the older release; where there is none, nothing is done
 * @returns how many items were taken over
 */
export function takeOver(tables: Tables, database: Database, file: string): number {
  if (!existsSync(file)) return 0;
  const old = new DatabaseSync(file);
  let items = 0;
  for (const row of old.prepare("SELECT * FROM _tables").all()) {
    const TableName = String(row["table_name"]);
    // What a take-over that was cut short has left.
    if (isThere(tables, TableName)) tables.execute("DeleteTable", { TableName });
    tables.execute("CreateTable", {
      TableName,
      KeySchema: JSON.parse(String(row["key_schema"])),
      AttributeDefinitions: JSON.parse(String(row["attribute_definitions"])),
      ...(row["gsi_definitions"] === null
        ? {}
        : { GlobalSecondaryIndexes: JSON.parse(String(row["gsi_definitions"])) }),
      BillingMode: "PAY_PER_REQUEST",
    });
    if (row["ttl_attribute"] !== null && row["ttl_enabled"] === 1) {
      const TimeToLiveSpecification = { Enabled: true, AttributeName: String(row["ttl_attribute"]) };
      tables.execute("UpdateTimeToLive", { TableName, TimeToLiveSpecification });
    }
    const name = TableName.replaceAll('"', '""');
    for (const { item_json: item } of old.prepare(`SELECT item_json FROM "${name}"`).iterate()) {
      tables.execute("PutItem", { TableName, Item: JSON.parse(String(item)) });
      items += 1;
      if (items % maxItemsInCommit === 0) database.commit();
    }
  }
  database.commit();
  old.close();
  for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  return items;
}

function isThere(tables: Tables, TableName: string): boolean {
  try {
    tables.execute("DescribeTable", { TableName });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.type === "ResourceNotFoundException") return false;
    throw error;
  }
}
