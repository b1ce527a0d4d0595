import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readStack, type StackDefinition } from "../../infra/local/template.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-template-"));
});
afterAll(async () => rm(folder, { recursive: true }));

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

const table: Resource = {
  Type: "AWS::DynamoDB::GlobalTable",
  Properties: {
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    GlobalSecondaryIndexes: [],
  },
};

/** Reads a stack of these resources. */
async function stackOf(
  Resources: Readonly<Record<string, Resource>>,
  Outputs: Readonly<Record<string, { readonly Value: unknown }>> = {},
): Promise<StackDefinition> {
  await writeFile(path.join(folder, "stack.template.json"), JSON.stringify({ Resources, Outputs }));
  await writeFile(
    path.join(folder, "stack.assets.json"),
    JSON.stringify({ files: { send: { source: { path: "send" } } } }),
  );
  return readStack(folder, "stack", { aws: "http://127.0.0.1:1", api: "http://127.0.0.1:2" });
}

/** As the CDK writes the name of a function with an alias. */
const aliasName = {
  "Fn::Join": ["", [{ "Fn::Select": [6, { "Fn::Split": [":", { Ref: "Live" }] }] }, ":live"]],
};

it.each([
  ["its name", { Ref: "Send" }, { Ref: "Send" }],
  ["its ARN", { "Fn::GetAtt": ["Send", "Arn"] }, { "Fn::GetAtt": ["Send", "Arn"] }],
  ["a version", { Ref: "SendVersion" }, { Ref: "SendVersion" }],
  ["an alias", { Ref: "Live" }, aliasName],
])("a function is known by %s", async (_, arn, name) => {
  const stack = await stackOf({
    Table: table,
    Send: {
      Type: "AWS::Lambda::Function",
      Properties: {
        Description: "",
        Code: { S3Key: "send.zip" },
        Handler: "index.handler",
        Environment: { Variables: {} },
        Timeout: 1,
        MemorySize: 128,
        Role: "",
      },
    },
    SendVersion: { Type: "AWS::Lambda::Version", Properties: { FunctionName: { Ref: "Send" } } },
    Live: {
      Type: "AWS::Lambda::Alias",
      Properties: {
        FunctionName: { Ref: "Send" },
        FunctionVersion: { "Fn::GetAtt": ["SendVersion", "Version"] },
        Name: "live",
      },
    },
    Integration: { Type: "AWS::ApiGatewayV2::Integration", Properties: { IntegrationUri: arn } },
    Route: {
      Type: "AWS::ApiGatewayV2::Route",
      Properties: {
        RouteKey: "POST /send",
        Target: { "Fn::Join": ["", ["integrations/", { Ref: "Integration" }]] },
      },
    },
    Queue: { Type: "AWS::SQS::Queue", Properties: {} },
    Mapping: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: {
        EventSourceArn: { "Fn::GetAtt": ["Queue", "Arn"] },
        FunctionName: name,
        BatchSize: 1,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: 2 },
      },
    },
    Rule: {
      Type: "AWS::Events::Rule",
      Properties: { ScheduleExpression: "rate(1 minute)", Targets: [{ Arn: arn }] },
    },
  });
  expect(stack.functions).toMatchObject([{ name: "Send" }]);
  expect(stack.routes).toMatchObject([{ functionName: "Send" }]);
  expect(stack.eventSources).toMatchObject([{ functionName: "Send" }]);
  expect(stack.schedules).toMatchObject([{ functionName: "Send" }]);
});

it("takes the table with its ARN", async () => {
  const arn = { Value: { "Fn::GetAtt": ["Table", "Arn"] } };
  const stack = await stackOf({ Table: table }, { TableArn: arn });
  expect(stack.table.name).toBe("Table");
  expect(stack.outputs).toMatchObject([{ value: "arn:aws:dynamodb:us-east-1:000000000000:table/Table" }]);
});

describe("a stack with nested stacks", () => {
  const hash = "0".repeat(64);
  const nestedStack = (Parameters: object): Resource => ({
    Type: "AWS::CloudFormation::Stack",
    Properties: { TemplateURL: { "Fn::Sub": `https://assets/${hash}.json` }, Parameters },
  });

  /** Reads a stack with a queue and with a nested stack of these resources. */
  async function stackWith(
    nested: Readonly<Record<string, Resource>>,
    Outputs: Readonly<Record<string, { readonly Value: unknown }>> = {},
  ): Promise<StackDefinition> {
    const templates = {
      "stack.template.json": {
        Resources: {
          Table: table,
          Jobs: { Type: "AWS::SQS::Queue" },
          Nested: nestedStack({ refToJobs: { "Fn::GetAtt": ["Jobs", "Arn"] } }),
        },
        Outputs: { Id: { Value: { "Fn::GetAtt": ["Nested", "Outputs.Id"] } } },
      },
      "nested.json": { Parameters: { refToJobs: { Type: "String" } }, Resources: nested, Outputs },
      "stack.assets.json": { files: { [hash]: { source: { path: "nested.json" } } } },
    };
    for (const [name, template] of Object.entries(templates)) {
      await writeFile(path.join(folder, name), JSON.stringify(template));
    }
    return readStack(folder, "stack", { aws: "http://127.0.0.1:1", api: "http://127.0.0.1:2" });
  }

  it("has their resources and outputs, with the values that it passes to them", async () => {
    const waiting: Resource = {
      Type: "AWS::SQS::Queue",
      Properties: { RedrivePolicy: { deadLetterTargetArn: { Ref: "refToJobs" }, maxReceiveCount: 3 } },
    };
    const stack = await stackWith(
      { Waiting: waiting },
      { Id: { Value: { "Fn::GetAtt": ["Waiting", "Arn"] } } },
    );
    const [jobs, inner] = stack.queues;
    expect(jobs?.name).toBe("Jobs");
    expect(inner).toMatchObject({ name: "Waiting", deadLettersArn: jobs?.arn });
    expect(stack.outputs).toEqual([{ name: "Id", value: inner?.arn, description: undefined }]);
  });

  it("is rejected when two templates have a resource of the same id", async () => {
    await expect(stackWith({ Jobs: { Type: "AWS::SQS::Queue", Properties: {} } })).rejects.toThrow(
      "both stack and Nested have a resource Jobs",
    );
  });
});
