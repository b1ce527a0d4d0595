import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { itemSize, type Item } from "../../infra/local/store/attribute-values.ts";
import { keys } from "../../shared/platform/table/keys.ts";

/** The bytes that DynamoDB adds to the size of each item when it charges for storage. */
const bytesBesideItem = 100;

/** The bytes of storage that DynamoDB would charge for, by the prefix of the partition key. The sandbox's own items are left out. */
export async function storedBytes({ dynamodbEndpoint, stack }: LocalGateway): Promise<Map<string, number>> {
  const client = new DynamoDBClient({ endpoint: dynamodbEndpoint });
  const bytes = new Map<string, number>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: stack.table.name })) {
    for (const item of Items) {
      const [kind = ""] = item["pk"]?.S?.split("#") ?? [];
      if (`${kind}#` === keys.sandboxMessage("").pk) continue;
      // No record has binary attributes, so this is the form in which the item was sent.
      const wire: Item = JSON.parse(JSON.stringify(item));
      bytes.set(kind, (bytes.get(kind) ?? 0) + itemSize(wire) + bytesBesideItem);
    }
  }
  client.destroy();
  return bytes;
}
