import {
  AttributeType,
  Billing,
  ProjectionType,
  TableEncryptionV2,
  TableV2,
  type ITableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

import { pendingWorkIndex } from "../../../shared/platform/table/pending-work-index.ts";
import type { Stage } from "../stages/stage.ts";
import { removalPolicyOf } from "./removal-policy.ts";

/** The table, created or adopted, as the rest of the stack uses it. */
export type GatewayTable = Pick<ITableV2, "encryptionKey" | "metric" | "tableArn" | "tableName">;

/**
 * Returns the one table, whose keys are described in `shared/platform/table/keys.ts`: the stack's own, or the one that the
 * stage adopts. An adopted table is not a resource of the stack, so no deployment changes or deletes it. Its properties are
 * checked before the deployment (`infra/stack/adopted-table.ts`).
 */
export function gatewayTable(scope: Construct, stage: Stage): GatewayTable {
  const { name, adoptTableName, encryptionKeyArn, keepData, replicaRegion, warmThroughput } = stage;
  // A table of this type has tags by replica, and the tags of the stack may not apply to them.
  const tags = Object.entries({ ...stage.tags, stage: name }).map(([key, value]) => ({ key, value }));
  const encryptionKey =
    encryptionKeyArn === undefined ? undefined : Key.fromKeyArn(scope, "TableKey", encryptionKeyArn);
  if (adoptTableName !== undefined) {
    return TableV2.fromTableAttributes(scope, "AdoptedTable", {
      tableName: adoptTableName,
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
    });
  }
  return new TableV2(scope, "Table", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    sortKey: { name: "sk", type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: pendingWorkIndex.name,
        partitionKey: { name: pendingWorkIndex.partitionKey, type: AttributeType.STRING },
        sortKey: { name: pendingWorkIndex.sortKey, type: AttributeType.STRING },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
    billing: Billing.onDemand(),
    ...(warmThroughput === undefined ? {} : { warmThroughput }),
    timeToLiveAttribute: timeToLiveField,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(encryptionKey === undefined
      ? {}
      : { encryption: TableEncryptionV2.customerManagedKey(encryptionKey) }),
    tags,
    ...(replicaRegion === undefined ? {} : { replicas: [{ region: replicaRegion, tags }] }),
    deletionProtection: keepData,
    removalPolicy: removalPolicyOf(stage),
  });
}

/** The field with the time at which an item expires, in seconds since the epoch. */
export const timeToLiveField = "expiresAt";
