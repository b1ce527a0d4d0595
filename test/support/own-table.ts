import { randomUUID } from "node:crypto";

import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { inject } from "vitest";

import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { rateCardCache } from "../../shared/prices/current.ts";

/**
 * Gives a test file a table of its own in the DynamoDB that it uses. Work on all due items then finds none of other
 * tests, and the schedules of a shared gateway find none of this file.
 */
export async function useOwnTable(): Promise<void> {
  const { name: _name, ...properties } = inject("table");
  const TableName = `own-${randomUUID()}`;
  const create = new CreateTableCommand({ TableName, ...properties, BillingMode: "PAY_PER_REQUEST" });
  await new DynamoDb().send(create);
  process.env[environmentNames.tableName] = TableName;
  rateCardCache.clear();
}
