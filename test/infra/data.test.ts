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
import { Match, type Template } from "aws-cdk-lib/assertions";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { checkAdoptedTable } from "../../infra/adopted-table.ts";
import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { GatewayStack } from "../../infra/gateway-stack.ts";
import { StageSettings } from "../../infra/stages/settings.ts";
import { stageNamed, type Stage } from "../../infra/stages/stage.ts";
import { sealingKeyId } from "../../shared/platform/auth/sealed-text.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { roleWith } from "../support/roles.ts";
import { testApp } from "../support/test-app.ts";
import { wholeTemplate } from "../support/whole-template.ts";

const encryptionKeyArn = "arn:aws:kms:eu-west-1:123456789012:key/7f1d";
const copyToVaultArn = "arn:aws:backup:eu-central-1:210987654321:backup-vault:copies";

function stage(settings: Partial<z.input<typeof StageSettings>>): Stage {
  const least = { account: "123456789012", region: "eu-west-1", carrier: "sandbox", keepData: true } as const;
  const { policies } = stageNamed("prod");
  return { ...StageSettings.parse({ ...least, policies, ...settings }), name: "blue" };
}

function synthesize(settings: Partial<z.input<typeof StageSettings>>): Template {
  const app = testApp(".build/test-data.out");
  const { stackName } = new GatewayStack(app, "test-data", stage(settings));
  return wholeTemplate(app.synth().directory, stackName);
}

it("uses an adopted table, and can neither change nor delete it", () => {
  const template = synthesize({ adoptTableName: "left-behind", backups: { retentionDays: 35 } });
  template.resourceCountIs("AWS::DynamoDB::GlobalTable", 0);
  template.resourceCountIs("AWS::DynamoDB::Table", 0);
  template.hasOutput(outputNames.tableName, { Value: "left-behind" });
  for (const each of Object.values(template.findResources("AWS::Lambda::Function"))) {
    expect(each).toHaveProperty("Properties.Environment.Variables.TABLE_NAME", "left-behind");
  }
  const resources = tableResources(template);
  expect(resources.length).toBeGreaterThan(100);
  expect(new Set(resources)).toEqual(
    new Set(["table/left-behind", "table/left-behind/index/agenda"].map(arnInStack)),
  );
  template.hasResourceProperties("AWS::Backup::BackupSelection", {
    BackupSelection: { Resources: [JSON.parse(arnInStack("table/left-behind")) as unknown] },
  });
});

it.each([
  ["adoptWebhookKeyArn", "WebhookKey", outputNames.webhookKeyArn, 3],
  ["adoptSecondFactorKeyArn", "SecondFactorKey", outputNames.secondFactorKeyArn, 6],
])("takes %s of an adopted table for its own, and makes none", (setting, id, output, uses) => {
  const keyArn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:kept-key-AbCd12";
  const template = synthesize({ adoptTableName: "left-behind", [setting]: keyArn });
  const secrets = Object.keys(template.findResources("AWS::SecretsManager::Secret"));
  expect(secrets.filter((each) => each.startsWith(id))).toEqual([]);
  template.hasOutput(output, { Value: keyArn });
  const statements = statementsOfRoles(template).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  expect(statements.filter(({ Resource }) => Resource === keyArn)).toHaveLength(uses);
});

const Roles = z.record(z.string(), roleWith(z.unknown()));

function statementsOfRoles(template: Template): z.infer<typeof Roles>[string]["Properties"]["Policies"] {
  return Object.values(Roles.parse(template.findResources("AWS::IAM::Role"))).flatMap(
    ({ Properties }) => Properties.Policies,
  );
}

/** Returns the resources in the roles' statements about DynamoDB, as JSON. */
function tableResources(template: Template): string[] {
  return statementsOfRoles(template)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => Action.some((action) => action.startsWith("dynamodb:")))
    .map(({ Resource }) => JSON.stringify(Resource));
}

function arnInStack(resource: string): string {
  const parts = ["arn:", { Ref: "AWS::Partition" }, `:dynamodb:eu-west-1:123456789012:${resource}`];
  return JSON.stringify({ "Fn::Join": ["", parts] });
}

it("encrypts the table with the stage's key, which a function may use only through DynamoDB", () => {
  const template = synthesize({ encryptionKeyArn });
  template.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
    SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
    Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: encryptionKeyArn } })],
  });
  for (const each of [template, synthesize({ encryptionKeyArn, adoptTableName: "left-behind" })]) {
    const policies = statementsOfRoles(each);
    let usesOfKey = 0;
    for (const { PolicyDocument } of policies) {
      const statements = PolicyDocument.Statement;
      const touchesItems = statements.some(({ Action, Condition }) => {
        return Action.some((action) => action.startsWith("dynamodb:")) && Condition !== undefined;
      });
      // Some have a statement about the key of sessions too.
      // Those of documents have one for S3.
      const ofKey = statements.filter(
        ({ Resource, Condition }) =>
          Resource === encryptionKeyArn && !JSON.stringify(Condition).includes("s3.eu-west-1."),
      );
      expect(ofKey).toHaveLength(touchesItems ? 1 : 0);
      for (const { Action, Condition } of ofKey) {
        usesOfKey += 1;
        expect(Action).toEqual(expect.arrayContaining(["kms:Decrypt", "kms:GenerateDataKey"]));
        expect(Action).not.toContain("kms:CreateGrant");
        expect(JSON.stringify(Condition)).toContain('"kms:ViaService":');
        expect(JSON.stringify(Condition)).toContain("dynamodb.eu-west-1.");
      }
    }
    expect(usesOfKey).toBeGreaterThan(50);
  }
});

it("keeps the logs after the stack if it keeps the data", () => {
  const policiesOf = (template: Template): unknown[] =>
    Object.values(template.findResources("AWS::Logs::LogGroup")).map((group) => [
      group["DeletionPolicy"],
      group["UpdateReplacePolicy"],
    ]);
  expect(policiesOf(synthesize({}))).toEqual(Array.from({ length: 3 }, () => ["Retain", "Retain"]));
  expect(policiesOf(synthesize({ keepData: false }))).toEqual(
    Array.from({ length: 3 }, () => ["Delete", "Delete"]),
  );
});

it("keeps daily copies in a vault that outlives the stack, and whose name no new stack uses", () => {
  const template = synthesize({ backups: { retentionDays: 35, copyToVaultArn } });
  template.hasResource("AWS::Backup::BackupVault", {
    Properties: { BackupVaultName: Match.objectLike({ "Fn::Join": Match.anyValue() }) },
    DeletionPolicy: "Retain",
  });
  const [vault] = Object.values(template.findResources("AWS::Backup::BackupVault"));
  expect(JSON.stringify(vault)).toContain('{"Ref":"AWS::StackId"}');
  template.hasResourceProperties("AWS::Backup::BackupPlan", {
    BackupPlan: {
      BackupPlanRule: [
        {
          ScheduleExpression: "cron(0 3 * * ? *)",
          Lifecycle: { DeleteAfterDays: 35 },
          CopyActions: [{ DestinationBackupVaultArn: copyToVaultArn, Lifecycle: { DeleteAfterDays: 35 } }],
        },
      ],
    },
  });
  expect(Object.keys(synthesize({}).findResources("AWS::Backup::BackupPlan"))).toEqual([]);
});

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

const keyOfTable = "the key that the secrets in the table are sealed with, long enough";
const anotherKey = "the key of another stack, which never sealed anything, long enough";
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
      keyId: sealingKeyId(key ?? ""),
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
