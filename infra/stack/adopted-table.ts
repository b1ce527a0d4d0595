import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type KeySchemaElement,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";

import { pendingWorkIndex } from "../../shared/platform/table/pending-work-index.ts";
import { checkKeys } from "./adopted-keys.ts";
import { timeToLiveField } from "./constructs/gateway-table.ts";
import type { Stage } from "./stages/stage.ts";

/**
 * Checks the table that a stage adopts, before anything is deployed. It must exist, have the keys and the index of a
 * gateway, and be protected like the stack's own table. Each problem has the command that fixes it.
 * @returns a warning, if it is unknown whether the stage has the keys that the table needs
 * @throws Error that names all problems
 */
export async function checkAdoptedTable(
  stage: Stage,
  region: string | undefined,
): Promise<string | undefined> {
  const { name, adoptTableName, encryptionKeyArn } = stage;
  if (adoptTableName === undefined) return undefined;
  const client = new DynamoDBClient(region === undefined ? {} : { region });
  const problems = await problemsOf(adoptTableName, encryptionKeyArn, client);
  // A table that is not a gateway's, or not ready, cannot be read.
  const keysOfTable =
    problems.length === 0
      ? await checkKeys(stage, { adoptTableName, client, region })
      : { problems: [], unknown: [] };
  problems.push(...keysOfTable.problems);
  if (problems.length === 0) {
    return keysOfTable.unknown.length === 0
      ? undefined
      : `The table ${adoptTableName} has no record of the keys that seal these: ${keysOfTable.unknown.join(", ")}. Without ` +
          "the right key no webhook can be signed and no code of an app be checked: see Adopt a table in infra/RUNBOOK.md.";
  }
  const heading = `Stage ${name} cannot adopt the table ${adoptTableName} yet:`;
  throw new Error([heading, ...problems].join("\n  "));
}

async function problemsOf(
  TableName: string,
  encryptionKeyArn: string | undefined,
  client: DynamoDBClient,
): Promise<string[]> {
  const table = await findTable(TableName, client);
  if (table === undefined) return ["there is no table of this name in this account and region"];
  const problems: string[] = [];
  if (table.TableStatus !== "ACTIVE") problems.push(`it is ${table.TableStatus}: wait until it is ACTIVE`);
  if (!isKeyedBy(table, table.KeySchema, ["pk", "sk"])) {
    return [...problems, "its keys are not pk and sk, both strings: it is not the table of a gateway"];
  }
  const { name, partitionKey, sortKey } = pendingWorkIndex;
  const index = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name);
  if (index === undefined || !isKeyedBy(table, index.KeySchema, [partitionKey, sortKey])) {
    problems.push(
      `it has no index ${name} with the keys ${partitionKey} and ${sortKey}: aws dynamodb update-table ` +
        `--table-name ${TableName} --attribute-definitions AttributeName=${partitionKey},AttributeType=S ` +
        `AttributeName=${sortKey},AttributeType=S --global-secondary-index-updates ` +
        `'[{"Create":{"IndexName":"${name}","KeySchema":[{"AttributeName":"${partitionKey}","KeyType":"HASH"},` +
        `{"AttributeName":"${sortKey}","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]'`,
    );
  } else if (index.IndexStatus !== "ACTIVE") {
    problems.push(`its index ${name} is ${index.IndexStatus}: wait until it is ACTIVE`);
  }
  const keyArn = table.SSEDescription?.KMSMasterKeyArn;
  if (keyArn !== encryptionKeyArn) {
    problems.push(
      `it is encrypted with ${keyArn ?? "AWS's own key"}, the stage's encryptionKeyArn is ${encryptionKeyArn ?? "not set"}`,
    );
  }
  // Without it, a stack that owned the table until now would delete it.
  if (table.DeletionProtectionEnabled !== true) {
    problems.push(
      `nothing protects it from deletion: aws dynamodb update-table --table-name ${TableName} --deletion-protection-enabled`,
    );
  }
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (
    TimeToLiveDescription?.AttributeName !== timeToLiveField ||
    !["ENABLED", "ENABLING"].includes(TimeToLiveDescription.TimeToLiveStatus ?? "")
  ) {
    problems.push(
      `its items never expire: aws dynamodb update-time-to-live --table-name ${TableName} ` +
        `--time-to-live-specification Enabled=true,AttributeName=${timeToLiveField}`,
    );
  }
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  if (recovery !== "ENABLED") {
    problems.push(
      `it has no point-in-time recovery: aws dynamodb update-continuous-backups --table-name ${TableName} ` +
        "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true",
    );
  }
  return problems;
}

async function findTable(TableName: string, client: DynamoDBClient): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** Returns whether the keys, in their order, are strings of these names. */
function isKeyedBy(
  { AttributeDefinitions = [] }: TableDescription,
  schema: KeySchemaElement[] = [],
  names: readonly string[] = [],
): boolean {
  const isString = (name: string | undefined): boolean =>
    AttributeDefinitions.some(
      ({ AttributeName, AttributeType }) => AttributeName === name && AttributeType === "S",
    );
  const keys = schema.toSorted((one) => (one.KeyType === "HASH" ? -1 : 1));
  return (
    keys.length === names.length &&
    keys.every(({ AttributeName }, index) => AttributeName === names[index] && isString(AttributeName))
  );
}
