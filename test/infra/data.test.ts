import { Match, type Template } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import type { StageSettings } from "../../infra/stack/stages/settings.ts";
import { roleWith } from "../support/roles.ts";
import { encryptionKeyArn, stageOfData } from "../support/stage-of-data.ts";
import { synthesized } from "../support/synthesized.ts";

const copyToVaultArn = "arn:aws:backup:eu-central-1:210987654321:backup-vault:copies";

function synthesize(settings: Partial<z.input<typeof StageSettings>>): Template {
  return synthesized(stageOfData(settings)).template;
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
  ["adoptWebhookKeyArn", "WebhookKey", outputNames.webhookKeyArn, 6],
  ["adoptSecondFactorKeyArn", "SecondFactorKey", outputNames.secondFactorKeyArn, 7],
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
  expect(policiesOf(synthesize({}))).toEqual(
    Array.from({ length: 3 }, () => ["RetainExceptOnCreate", "Retain"]),
  );
  expect(policiesOf(synthesize({ keepData: false }))).toEqual(
    Array.from({ length: 3 }, () => ["Delete", "Delete"]),
  );
});

it("keeps daily copies in a vault that outlives the stack, and whose name no new stack uses", () => {
  const template = synthesize({ backups: { retentionDays: 35, copyToVaultArn } });
  template.hasResource("AWS::Backup::BackupVault", {
    Properties: { BackupVaultName: Match.objectLike({ "Fn::Join": Match.anyValue() }) },
    DeletionPolicy: "RetainExceptOnCreate",
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
