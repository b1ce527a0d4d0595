import { randomUUID } from "node:crypto";

import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { inject } from "vitest";

import { environmentNames } from "../../shared/platform/config.ts";

/**
 * Gives a test file a table of its own in the shared gateway's DynamoDB. Work that goes through all that is due then
 * finds nothing of other tests, and the gateway's own schedules find nothing of this one.
 */
export async function useOwnTable(): Promise<void> {
  const { name: _name, ...properties } = inject("table");
  const TableName = `own-${randomUUID()}`;
  const create = new CreateTableCommand({ TableName, ...properties, BillingMode: "PAY_PER_REQUEST" });
  await new DynamoDBClient({ endpoint: inject("dynamodbEndpoint") }).send(create);
  process.env[environmentNames.tableName] = TableName;
}
