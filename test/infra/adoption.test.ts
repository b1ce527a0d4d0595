import { CloudFormationClient, ListStackResourcesCommand } from "@aws-sdk/client-cloudformation";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";

import { checkAdoptedTable } from "../../infra/stack/adopted-table.ts";
import { sealingKeyIds } from "../../shared/platform/auth/sealed-text.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { encryptionKeyArn, stageOfData as stage } from "../support/stage-of-data.ts";

/*
 * The requirements for a table that a stage adopts.
 */

const adopted: TableDescription = {
  TableStatus: "ACTIVE",
  DeletionProtectionEnabled: true,
  AttributeDefinitions: ["pk", "sk", "agenda", "lookAt"].map((AttributeName) => ({
    AttributeName,
    AttributeType: "S",
  })),
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "agenda",
      IndexStatus: "ACTIVE",
      KeySchema: [
        { AttributeName: "agenda", KeyType: "HASH" },
        { AttributeName: "lookAt", KeyType: "RANGE" },
      ],
    },
  ],
};

const dynamodb = mockClient(DynamoDBClient);
const items = mockClient(DynamoDBDocumentClient);
const secrets = mockClient(SecretsManagerClient);
const cloudFormation = mockClient(CloudFormationClient);
beforeEach(() => {
  for (const client of [dynamodb, items, secrets, cloudFormation]) client.reset();
  noteKeys();
  cloudFormation
    .on(ListStackResourcesCommand)
    .rejects(new Error("Stack with id sms-gateway-blue does not exist"));
  answer(adopted);
});

function answer(
  table: TableDescription,
  timeToLive: "DISABLED" | "ENABLED" = "ENABLED",
  recovery: "DISABLED" | "ENABLED" = "ENABLED",
): void {
  const TimeToLiveDescription = { TimeToLiveStatus: timeToLive, AttributeName: "expiresAt" };
  const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: recovery };
  dynamodb.on(DescribeTableCommand).resolves({ Table: table });
  dynamodb.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription });
  dynamodb.on(DescribeContinuousBackupsCommand).resolves({
    ContinuousBackupsDescription: { ContinuousBackupsStatus: "ENABLED", PointInTimeRecoveryDescription },
  });
}

const adopting = stage({ adoptTableName: "left-behind" });

const keyOfTable = "the-key-that-the-secrets-in-the-table-are-sealed-with-long-enough";
const anotherKey = "the-key-of-another-stack-which-never-sealed-anything-long-enough";
const arnOf = (name: string): string => `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${name}-AbCdEf`;

/** Records in the table which keys seal the secrets of webhooks and of second factors. */
function noteKeys(webhooks?: string, secondFactors?: string): void {
  const noted = [
    ["webhooks", webhooks],
    ["secondFactors", secondFactors],
  ] as const;
  for (const [kind, key] of noted) {
    const record = {
      entity: "sealingKey",
      keyId: sealingKeyIds(key ?? "")[0],
      usedAt: "2026-03-01T12:00:00.000Z",
    };
    items
      .on(GetCommand, { TableName: "left-behind", Key: keys.sealingKey(kind) })
      .resolves(key === undefined ? {} : { Item: record });
  }
}

function keepSecret(name: string, SecretString: string): string {
  secrets.on(GetSecretValueCommand, { SecretId: arnOf(name) }).resolves({ SecretString });
  return arnOf(name);
}

/** Simulates the stack of the stage with its own keys. */
function deployStack(made: Readonly<Record<string, string>>): void {
  const StackResourceSummaries = Object.entries(made).map(([id, PhysicalResourceId]) => ({
    LogicalResourceId: `${id}1A2B3C4D`,
    PhysicalResourceId,
    ResourceType: "AWS::SecretsManager::Secret",
    ResourceStatus: "UPDATE_COMPLETE" as const,
    LastUpdatedTimestamp: new Date(),
  }));
  cloudFormation.on(ListStackResourcesCommand).resolves({ StackResourceSummaries });
}

it("rejects the adoption of a table without the keys of its secrets", async () => {
  noteKeys(keyOfTable, keyOfTable);
  // A new stack would create its own keys.
  const refused = checkAdoptedTable(adopting, "eu-west-1");
  await expect(refused).rejects.toThrow(
    "the secrets of webhooks in it are sealed with a key, and this stack would make a new one: adoptWebhookKeyArn must be",
  );
  await expect(refused).rejects.toThrow("adoptSecondFactorKeyArn must be");
  const adoptWebhookKeyArn = keepSecret("webhooks", keyOfTable);
  const adoptSecondFactorKeyArn = keepSecret("second-factors", keyOfTable);
  const withKeys = stage({ adoptTableName: "left-behind", adoptWebhookKeyArn, adoptSecondFactorKeyArn });
  await expect(checkAdoptedTable(withKeys, "eu-west-1")).resolves.toBeUndefined();
});

it("rejects the adoption of a table with another key, and names the wrong setting", async () => {
  noteKeys(keyOfTable, keyOfTable);
  const adoptWebhookKeyArn = keepSecret("webhooks", anotherKey);
  const adoptSecondFactorKeyArn = keepSecret("second-factors", keyOfTable);
  const wrong = stage({ adoptTableName: "left-behind", adoptWebhookKeyArn, adoptSecondFactorKeyArn });
  const refused = checkAdoptedTable(wrong, "eu-west-1");
  await expect(refused).rejects.toThrow(
    `the secrets of webhooks in it are sealed with another key than ${adoptWebhookKeyArn}: adoptWebhookKeyArn must be`,
  );
  await expect(refused).rejects.not.toThrow("adoptSecondFactorKeyArn");
});

it("lets a living stack adopt a table with its own keys, but not with those of another stack", async () => {
  noteKeys(keyOfTable, keyOfTable);
  deployStack({
    WebhookKey: keepSecret("webhooks", keyOfTable),
    SecondFactorKey: keepSecret("second-factors", keyOfTable),
  });
  await expect(checkAdoptedTable(adopting, "eu-west-1")).resolves.toBeUndefined();
  // While a key is replaced.
  keepSecret("webhooks", `keys ${anotherKey} ${keyOfTable}`);
  await expect(checkAdoptedTable(adopting, "eu-west-1")).resolves.toBeUndefined();
  keepSecret("webhooks", anotherKey);
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    `another key than ${arnOf("webhooks")}`,
  );
});

it("names the missing permission when it cannot read a key", async () => {
  noteKeys(keyOfTable);
  deployStack({ WebhookKey: arnOf("webhooks") });
  secrets.on(GetSecretValueCommand).rejects(new Error("not authorized"));
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    "It needs secretsmanager:GetSecretValue.",
  );
});

it("warns of a table without a record of its keys, and adopts it", async () => {
  noteKeys(undefined, keyOfTable);
  deployStack({ SecondFactorKey: keepSecret("second-factors", keyOfTable) });
  const warning = await checkAdoptedTable(adopting, "eu-west-1");
  expect(warning).toContain("the secrets of webhooks (adoptWebhookKeyArn)");
  expect(warning).not.toContain("adoptSecondFactorKeyArn");
});

it("accepts the table of a destroyed stack of this gateway", async () => {
  noteKeys(keyOfTable, keyOfTable);
  deployStack({
    WebhookKey: keepSecret("webhooks", keyOfTable),
    SecondFactorKey: keepSecret("second-factors", keyOfTable),
  });
  await expect(checkAdoptedTable(adopting, "eu-west-1")).resolves.toBeUndefined();
  await expect(checkAdoptedTable(stage({}), "eu-west-1")).resolves.toBeUndefined();
  expect(dynamodb.commandCalls(DescribeTableCommand)).toHaveLength(1);
});

it("reports a missing table, and another kind of table", async () => {
  dynamodb
    .on(DescribeTableCommand)
    .rejects(new ResourceNotFoundException({ message: "not found", $metadata: {} }));
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    "Stage blue cannot adopt the table left-behind yet:\n  there is no table of this name in this account and region",
  );
  answer({ ...adopted, KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] });
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    "its keys are not pk and sk, both strings: it is not the table of a gateway",
  );
});

it("names each missing feature of a restored table with its command", async () => {
  const { GlobalSecondaryIndexes: _index, ...withoutIndex } = adopted;
  answer({ ...withoutIndex, DeletionProtectionEnabled: false }, "DISABLED", "DISABLED");
  const refused = checkAdoptedTable(adopting, "eu-west-1");
  for (const command of [
    'update-table --table-name left-behind --attribute-definitions .*"IndexName":"agenda"',
    "update-table --table-name left-behind --deletion-protection-enabled",
    "update-time-to-live --table-name left-behind .*AttributeName=expiresAt",
    "update-continuous-backups --table-name left-behind .*PointInTimeRecoveryEnabled=true",
  ]) {
    await expect(refused).rejects.toThrow(new RegExp(command));
  }
});

it("rejects functions that could not read data of another key", async () => {
  const KMSMasterKeyArn = encryptionKeyArn;
  answer({ ...adopted, SSEDescription: { KMSMasterKeyArn } });
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    `it is encrypted with ${encryptionKeyArn}, the stage's encryptionKeyArn is not set`,
  );
  await expect(
    checkAdoptedTable(stage({ adoptTableName: "left-behind", encryptionKeyArn }), "eu-west-1"),
  ).resolves.toContain("has no record of the keys");
});
