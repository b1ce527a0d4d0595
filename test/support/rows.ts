import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

import { config } from "../../shared/platform/config.ts";

/** Everything that the table holds. */
export async function allRows(): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  const pages = paginateScan({ client: new DynamoDBClient({}) }, { TableName: config.tableName() });
  for await (const { Items = [] } of pages) found.push(...Items.map((item) => unmarshall(item)));
  return found;
}
