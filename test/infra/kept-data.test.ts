import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import type { StackTemplates } from "../../infra/stack/nested-stacks.ts";
import { keptTypes } from "../../infra/stack/replacements.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { synthesized } from "../support/synthesized.ts";

/*
 * The data and the keys of a stage outlive its stack if its settings require it.
 */

let prod: Template;
let dev: Template;
beforeAll(() => {
  prod = synthesized(stageNamed("prod")).template;
  dev = synthesized(stageNamed("dev")).template;
});

it("has data and keys only in the main stack, and CloudFormation decides before a deployment whether it replaces them", () => {
  const keptOf = ({ Resources }: StackTemplates["main"]): (typeof Resources)[string][] =>
    Object.values(Resources).filter(({ Type }) => keptTypes.test(Type));
  expect([...synthesized(stageNamed("prod")).templates.nested.values()].flatMap(keptOf)).toEqual([]);
  const kept = keptOf(synthesized(stageNamed("prod")).templates.main);
  expect(kept).toHaveLength(7);
  for (const { Properties } of kept) {
    // These two change in place. A reference elsewhere could make a replacement conditional.
    const { KeyPolicy: _policy, Replicas: _replicas, ...others } = Properties;
    expect(JSON.stringify(others)).not.toMatch(/"(Ref|Fn::\w+)":/);
  }
});

it("always keeps the table of prod, and deletes that of dev with its stack", () => {
  const table = {
    BillingMode: "PAY_PER_REQUEST",
    TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
  };
  const replica = {
    Region: { Ref: "AWS::Region" },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
  const [ofProd, ...others] = Object.values(prod.findResources("AWS::DynamoDB::GlobalTable"));
  expect(others).toEqual([]);
  const tags = [{ Key: "stage", Value: "prod" }];
  expect(ofProd).toMatchObject({
    Properties: { ...table, Replicas: [{ ...replica, DeletionProtectionEnabled: true, Tags: tags }] },
    DeletionPolicy: "RetainExceptOnCreate",
    UpdateReplacePolicy: "Retain",
  });
  // Its index has only keys, so that its listing reveals no data.
  expect(ofProd).toHaveProperty("Properties.GlobalSecondaryIndexes", [
    {
      IndexName: "agenda",
      KeySchema: [
        { AttributeName: "agenda", KeyType: "HASH" },
        { AttributeName: "lookAt", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
  ]);
  const [ofDev] = Object.values(dev.findResources("AWS::DynamoDB::GlobalTable"));
  expect(ofDev).toMatchObject({
    Properties: { ...table, Replicas: [{ ...replica, DeletionProtectionEnabled: false }] },
    DeletionPolicy: "Delete",
  });
});

it("warms a table for a launch, if the stage's file requests it", () => {
  const warmThroughput = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 20_000 };
  const { template } = synthesized({ ...stageNamed("prod"), warmThroughput });
  const [table] = Object.values(template.findResources("AWS::DynamoDB::GlobalTable"));
  expect(table).toHaveProperty("Properties.WarmThroughput", {
    ReadUnitsPerSecond: 12_000,
    WriteUnitsPerSecond: 20_000,
  });
});

it("keeps a replica in another region, protected and with point-in-time recovery", () => {
  const { template } = synthesized({
    ...stageNamed("prod"),
    region: "eu-central-1",
    replicaRegion: "eu-west-1",
  });
  const [table] = Object.values(template.findResources("AWS::DynamoDB::GlobalTable"));
  const { Replicas } = z.object({ Replicas: z.array(z.unknown()) }).parse(table?.["Properties"]);
  const protection = {
    DeletionProtectionEnabled: true,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
  expect(Replicas).toMatchObject([
    { Region: "eu-west-1", ...protection },
    { Region: "eu-central-1", ...protection },
  ]);
});

it.each(["WebhookKey", "SecondFactorKey"])(
  "keeps %s, which the table is read with, as long as the table",
  (name) => {
    const keyOf = (template: Template): unknown =>
      Object.entries(template.findResources("AWS::SecretsManager::Secret")).find(([id]) =>
        id.startsWith(name),
      )?.[1];
    expect(keyOf(prod)).toMatchObject({
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
    });
    expect(keyOf(dev)).toMatchObject({ DeletionPolicy: "Delete" });
  },
);
