import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { fullStage } from "../support/full-stage.ts";
import { roleWith } from "../support/roles.ts";
import { synthesized } from "../support/synthesized.ts";

let full: Template;
let dev: Template;
beforeAll(() => {
  full = synthesized({ ...fullStage, encryptionKeyArn }).template;
  dev = synthesized(stageNamed("dev")).template;
});

const encryptionKeyArn = "arn:aws:kms:eu-west-1:123456789012:key/7f1d";
const Role = roleWith(z.unknown());

/** Returns what the role of a function allows on documents, and by the key for S3. */
function statementsOf(template: Template, name: string): object[] {
  const roles = Object.entries(template.findResources("AWS::IAM::Role"));
  return roles
    .filter(([id]) => id.includes(`${name}Role`))
    .flatMap(([, role]) => Role.parse(role).Properties.Policies)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter((statement) => /"s3[:.]/.test(JSON.stringify(statement)));
}

it("keeps the bucket with all versions after any stack, private, encrypted and over TLS only", () => {
  for (const template of [full, dev]) {
    const buckets = Object.entries(template.findResources("AWS::S3::Bucket"));
    expect(buckets).toHaveLength(1);
    const [[id, bucket] = []] = buckets;
    expect(bucket).toMatchObject({
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        VersioningConfiguration: { Status: "Enabled" },
      },
    });
    template.hasOutput(outputNames.documentsBucketName, { Value: { Ref: id } });
    const [policy] = Object.values(template.findResources("AWS::S3::BucketPolicy"));
    expect(JSON.stringify(policy)).toContain('{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"');
  }
});

it("encrypts documents with the stage's key, or with that of S3", () => {
  const encryptionOf = (template: Template): unknown =>
    Object.values(template.findResources("AWS::S3::Bucket"))[0]?.["Properties"].BucketEncryption
      .ServerSideEncryptionConfiguration;
  expect(encryptionOf(full)).toEqual([
    {
      BucketKeyEnabled: true,
      ServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms", KMSMasterKeyID: encryptionKeyArn },
    },
  ]);
  expect(encryptionOf(dev)).toEqual([{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }]);
});

it("allows a function to read documents or to add them, and nothing else", () => {
  const [bucketId = ""] = Object.keys(dev.findResources("AWS::S3::Bucket"));
  const arn = { "Fn::GetAtt": [bucketId, "Arn"] };
  const objects = { "Fn::Join": ["", [arn, "/*"]] };
  expect(statementsOf(dev, "GetInvoice")).toMatchObject([
    { Action: ["s3:GetObject"], Resource: objects },
    { Action: ["s3:ListBucket"], Resource: arn },
  ]);
  expect(statementsOf(dev, "ProcessPayment")).toMatchObject([
    { Action: ["s3:GetObject", "s3:PutObject"], Resource: objects },
    { Action: ["s3:ListBucket"], Resource: arn },
  ]);
  const all = JSON.stringify(dev.findResources("AWS::IAM::Role"));
  expect(new Set(all.match(/"s3:\w+"/g))).toEqual(
    new Set(['"s3:GetObject"', '"s3:PutObject"', '"s3:ListBucket"']),
  );
});

it("lets only functions with documents use the stage's key through S3, and know the bucket", () => {
  const ofKey = (name: string): object[] =>
    statementsOf(full, name).filter((statement) => JSON.stringify(statement).includes(encryptionKeyArn));
  const via = { StringEquals: { "kms:ViaService": expect.anything() } };
  const Action = ["kms:Decrypt", "kms:GenerateDataKey"];
  expect(ofKey("GetInvoice")).toEqual([expect.objectContaining({ Action, Condition: via })]);
  expect(ofKey("GetWallet")).toEqual([]);
  const knowing = Object.entries(full.findResources("AWS::Lambda::Function")).filter(
    ([, each]) => "DOCUMENTS_BUCKET" in each["Properties"].Environment.Variables,
  );
  const names = [
    "CancelPayment",
    "ComparePayments",
    "GetInvoice",
    "GetPayment",
    "ProcessPayment",
    "VisitPayments",
  ];
  const ofNames = new RegExp(names.join("|"));
  expect(knowing.map(([id]) => String(ofNames.exec(id))).toSorted()).toEqual(names);
});
