import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { Match, Template } from "aws-cdk-lib/assertions";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import * as z from "zod";

import { checkAdoptedTable } from "../../infra/adopted-table.ts";
import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { GatewayStack } from "../../infra/gateway-stack.ts";
import { StageSettings, stageNamed, type Stage } from "../../infra/stages/stage.ts";
import { roleWith } from "../support/roles.ts";
import { testApp } from "../support/test-app.ts";

const encryptionKeyArn = "arn:aws:kms:eu-west-1:123456789012:key/7f1d";
const copyToVaultArn = "arn:aws:backup:eu-central-1:210987654321:backup-vault:copies";

function stage(settings: Partial<z.input<typeof StageSettings>>): Stage {
  const least = { account: "123456789012", region: "eu-west-1", carrier: "sandbox", keepData: true } as const;
  const { policies } = stageNamed("prod");
  return { ...StageSettings.parse({ ...least, policies, ...settings }), name: "blue" };
}

function synthesize(settings: Partial<z.input<typeof StageSettings>>): Template {
  const app = testApp(".build/test-data.out");
  return Template.fromStack(new GatewayStack(app, "test-data", stage(settings)));
}

it("takes an adopted table for its own, and can neither change nor delete it", () => {
  const template = synthesize({ adoptTable: "left-behind", backups: { retentionDays: 35 } });
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
  ["adoptWebhookKey", "WebhookKey", outputNames.webhookKeyArn, 3],
  ["adoptSecondFactorKey", "SecondFactorKey", outputNames.secondFactorKeyArn, 4],
])("takes %s of an adopted table for its own, and makes none", (setting, id, output, uses) => {
  const keyArn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:kept-key-AbCd12";
  const template = synthesize({ adoptTable: "left-behind", [setting]: keyArn });
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

/** What the roles name in their statements about DynamoDB, as JSON. */
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

it("encrypts the table with the stage's key, which a function may use through DynamoDB alone", () => {
  const template = synthesize({ encryptionKeyArn });
  template.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
    SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
    Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: encryptionKeyArn } })],
  });
  for (const each of [template, synthesize({ encryptionKeyArn, adoptTable: "left-behind" })]) {
    const policies = statementsOfRoles(each);
    let usesOfKey = 0;
    for (const { PolicyDocument } of policies) {
      const statements = PolicyDocument.Statement;
      const touchesItems = statements.some(({ Action, Condition }) => {
        return Action.some((action) => action.startsWith("dynamodb:")) && Condition !== undefined;
      });
      // Some have a statement about the key of sessions too.
      const ofKey = statements.filter(({ Resource }) => Resource === encryptionKeyArn);
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

it("keeps daily copies in a vault that outlives the stack, and whose name a new stack does not take", () => {
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
beforeEach(() => {
  dynamodb.reset();
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

const adopting = stage({ adoptTable: "left-behind" });

it("finds nothing wrong with a table that a stack of this gateway has left behind", async () => {
  await expect(checkAdoptedTable(adopting, "eu-west-1")).resolves.toBeUndefined();
  await expect(checkAdoptedTable(stage({}), "eu-west-1")).resolves.toBeUndefined();
  expect(dynamodb.commandCalls(DescribeTableCommand)).toHaveLength(1);
});

it("says that the table to adopt is not there, or is another kind of table", async () => {
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

it("names with its command each thing that a restored table lacks", async () => {
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

it("does not let functions be deployed that could not read what another key encrypts", async () => {
  const KMSMasterKeyArn = encryptionKeyArn;
  answer({ ...adopted, SSEDescription: { KMSMasterKeyArn } });
  await expect(checkAdoptedTable(adopting, "eu-west-1")).rejects.toThrow(
    `it is encrypted with ${encryptionKeyArn}, the stage's encryptionKeyArn is not set`,
  );
  await expect(
    checkAdoptedTable(stage({ adoptTable: "left-behind", encryptionKeyArn }), "eu-west-1"),
  ).resolves.toBeUndefined();
});
