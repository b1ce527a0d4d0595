import { randomUUID } from "node:crypto";

import type * as sdk from "@aws-sdk/client-dynamodb";
import { BatchWriteItemCommand, DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { inject } from "vitest";

import { blockedCache } from "../../shared/money/prices/blocked-destinations.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { AwsCommand } from "../../shared/platform/aws/command.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { environmentNames } from "../../shared/platform/config.ts";

class CreateTableCommand extends AwsCommand<sdk.CreateTableCommandInput, sdk.CreateTableCommandOutput> {
  readonly operation = "CreateTable";
  /** It has no items to convert. */
  readonly inputItems = [];
  readonly outputItems = [];
}

/** Creates a table as that of the stack. The client of the SDK takes several times as long. */
async function createTable(TableName: string): Promise<void> {
  const { name: _name, ...properties } = inject("table");
  const create = new CreateTableCommand({ TableName, ...properties, BillingMode: "PAY_PER_REQUEST" });
  await new DynamoDb().send(create);
}

/**
 * Gives a test file a table of its own in the DynamoDB that it uses. Work on all due items then finds none of other
 * tests, and the schedules of a shared gateway find none of this file.
 */
export async function useOwnTable(): Promise<void> {
  const TableName = `own-${randomUUID()}`;
  await createTable(TableName);
  process.env[environmentNames.tableName] = TableName;
  rateCardCache.clear();
  blockedCache.clear();
}

/** Copies the table under another name, as a restore does. @returns what points the code to the copy */
export async function restorePoint(): Promise<() => void> {
  const dynamodb = new DynamoDBClient({});
  const TableName = `restored-${randomUUID()}`;
  await createTable(TableName);
  const source = process.env[environmentNames.tableName];
  for await (const { Items = [] } of paginateScan({ client: dynamodb }, { TableName: source, Limit: 25 })) {
    if (Items.length === 0) continue;
    const puts = Items.map((Item) => ({ PutRequest: { Item } }));
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }));
  }
  return () => {
    process.env[environmentNames.tableName] = TableName;
  };
}
