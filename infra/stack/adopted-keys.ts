import { CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";

import { sealingKeyIds } from "../../shared/platform/auth/sealed-text.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { sealingKeys } from "./constructs/sealing-key.ts";
import type { Stage } from "./stages/stage.ts";

/** The record of a key: see `shared/platform/auth/sealing-key-record.ts`. */
const Noted = z.object({ keyId: z.string() });

export interface KeysOfTable {
  /** The reasons why the stage cannot adopt the table. */
  readonly problems: readonly string[];
  /** The secrets without a record of their key: the table has none yet, or the record could not be written. */
  readonly unknown: readonly string[];
}

/**
 * Compares the keys that a stage will have with those that sealed the secrets in the table.
 * @param client reads the table
 * @param region undefined for that of the environment
 */
export async function checkKeys(
  stage: Stage,
  {
    adoptTableName,
    client,
    region,
  }: { adoptTableName: string; client: DynamoDBClient; region: string | undefined },
): Promise<KeysOfTable> {
  const problems: string[] = [];
  const unknown: string[] = [];
  const settings = region === undefined ? {} : { region };
  for (const [constructId, { kind, sealed, adopted }] of Object.entries(sealingKeys)) {
    const { Item } =
      (await DynamoDBDocumentClient.from(client).send(
        new GetCommand({ TableName: adoptTableName, Key: keys.sealingKey(kind) }),
      )) ?? {};
    const noted = Noted.safeParse(Item);
    if (!noted.success) {
      unknown.push(`${sealed} (${adopted})`);
      continue;
    }
    const arn = stage[adopted] ?? (await ownKeyOf(stage, constructId, new CloudFormationClient(settings)));
    const needed =
      `${adopted} must be the ARN of the secret of this table's stack, or of a copy of its value ` +
      "(infra/RUNBOOK.md, Adopt a table)";
    if (arn === undefined) {
      problems.push(`${sealed} in it are sealed with a key, and this stack would make a new one: ${needed}`);
    } else if (
      !sealingKeyIds(await valueOf(arn, new SecretsManagerClient(settings))).includes(noted.data.keyId)
    ) {
      problems.push(`${sealed} in it are sealed with another key than ${arn}: ${needed}`);
    }
  }
  return { problems, unknown };
}

/** Returns the ARN of the key that a stage's stack created; undefined without a key or a stack. */
async function ownKeyOf(
  { name }: Stage,
  constructId: string,
  client: CloudFormationClient,
): Promise<string | undefined> {
  try {
    const pages = paginateListStackResources({ client }, { StackName: `sms-gateway-${name}` });
    for await (const { StackResourceSummaries = [] } of pages) {
      const found = StackResourceSummaries.find(
        ({ ResourceType, LogicalResourceId = "", ResourceStatus }) =>
          ResourceType === "AWS::SecretsManager::Secret" &&
          LogicalResourceId.startsWith(constructId) &&
          ResourceStatus !== "DELETE_COMPLETE",
      );
      if (found !== undefined) return found.PhysicalResourceId;
    }
    return undefined;
  } catch (error) {
    // The error for a missing stack is a validation error without a type of its own.
    if (error instanceof Error && error.message.includes("does not exist")) return undefined;
    throw error;
  }
}

async function valueOf(SecretId: string, client: SecretsManagerClient): Promise<string> {
  try {
    const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId }));
    return SecretString;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The key ${SecretId} could not be compared with the table (${reason}). It needs secretsmanager:GetSecretValue.`,
      { cause: error },
    );
  }
}
