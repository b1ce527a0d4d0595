import { readFileSync } from "node:fs";

import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { Access } from "../../infra/stack/access.ts";
import { shadowedRouteKeys } from "../../infra/stack/constructs/gateway-api.ts";
import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import type { StackTemplates } from "../../infra/stack/nested-stacks.ts";
import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";
import type { Worker } from "../../infra/stack/worker.ts";
import { workers } from "../../infra/stack/workers.ts";
import { operations, routes } from "../../shared/api/routes.ts";
import { methodsOfRoute, type Route } from "../../shared/api/routes/route.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";
import { callsPerMonth, hoursPerMonth } from "../benchmarks/schedules.ts";
import { synthesized } from "../support/synthesized.ts";

let prod: Template;
let templates: StackTemplates;
beforeAll(() => {
  ({ template: prod, templates } = synthesized(stageNamed("prod")));
});

const Function = z.object({
  Properties: z.object({
    Runtime: z.string(),
    Architectures: z.array(z.string()),
    Timeout: z.number(),
    Role: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
  }),
});

const Schedule = z.object({ Properties: z.object({ ScheduleExpression: z.string() }) });

it("calls each worker on its schedule, whose cost the benchmarks know", () => {
  const calls = Object.values(prod.findResources("AWS::Events::Rule"))
    .map((rule) => Schedule.parse(rule).Properties.ScheduleExpression)
    .map(callsPerMonth);
  const expected = Object.values<Worker>(workers).flatMap(({ schedule }) =>
    schedule === undefined ? [] : [(hoursPerMonth * 60) / schedule.everyMinutes],
  );
  expect(expected.length).toBeGreaterThan(4);
  const rounded = (counts: number[]): number[] => counts.map(Math.round).toSorted((a, b) => a - b);
  expect(rounded(calls)).toEqual(rounded(expected));
});

/** The sizes of a template, which CloudFormation limits to 500 resources, 200 parameters and 1 MB. */
function sizesOf(template: StackTemplates["main"]): { resources: number; parameters: number; bytes: number } {
  return {
    resources: Object.keys(template.Resources).length,
    parameters: Object.keys(template.Parameters).length,
    bytes: JSON.stringify(template).length,
  };
}

/** Returns the template of a tag, whose name is in Pascal case. */
function stackOfTag(tag: string): StackTemplates["main"] {
  const found = [...templates.nested].find(([id]) => id.startsWith(`Api${tag}NestedStack`));
  if (found === undefined) throw new Error(`there is no nested stack for ${tag}`);
  return found[1];
}

it("keeps each template below CloudFormation's limits, with room for 200 endpoints", () => {
  const main = sizesOf(templates.main);
  const nested = [...templates.nested.values()].map(sizesOf);
  const largest = (size: keyof typeof main): number => Math.max(...nested.map((sizes) => sizes[size]));
  process.stdout.write(
    `The stack has ${main.resources} of 500 resources. The largest of its ${nested.length} nested stacks has ` +
      `${largest("resources")}, and ${largest("parameters")} of 200 parameters.\n`,
  );
  const page = readFileSync("infra/SCALE.md", "utf8");
  expect(page).toContain(
    `the stack has ${main.resources}, its largest nested stack ${largest("resources")};`,
  );
  for (const { resources, parameters, bytes } of [main, ...nested]) {
    expect(resources).toBeLessThanOrEqual(400);
    expect(parameters).toBeLessThanOrEqual(180);
    expect(bytes).toBeLessThanOrEqual(900_000);
  }
  // An endpoint adds to the stack of its tag alone. With 200 endpoints, each tag has its present share of them, and each
  // of the new ones may have gradual deployment.
  const endpoints = operations();
  const byTag = Map.groupBy(endpoints, ([, { tag }]) => tag);
  for (const [tag, { length }] of [...byTag].map(([name, ofTag]) => [pascalCase(name), ofTag] as const)) {
    const stack = stackOfTag(tag);
    const { resources, bytes } = sizesOf(stack);
    const grown = Math.ceil((length * 200) / endpoints.length);
    expect(resources + (grown - length) * resourcesOfGradualEndpoint, tag).toBeLessThanOrEqual(400);
    expect((bytes * grown) / length, tag).toBeLessThanOrEqual(900_000);
    // The role that calls them may hold 10,240 characters of policies.
    expect(grown * longestFunctionArn, tag).toBeLessThan(9_000);
  }
});

const resourcesOfEndpoint = 4;
/** Its version, alias and deployment group, with two alarms. */
const resourcesOfGradualEndpoint = resourcesOfEndpoint + 5;
/** With the alias, and with the quotes and the comma of a policy. */
const longestFunctionArn = 122;

it("has the four resources of each endpoint in the stack of its tag", () => {
  for (const [operation, { tag }] of operations()) {
    const stack = stackOfTag(pascalCase(tag));
    const ofEndpoint = Object.keys(stack.Resources).filter((id) =>
      new RegExp(`^Api${pascalCase(operation)}(Function|Role|Integration|Route)[0-9A-F]{8}$`).test(id),
    );
    expect(ofEndpoint, operation).toHaveLength(resourcesOfEndpoint);
  }
  expect(templates.nested.size).toBe(new Set(operations().map(([, { tag }]) => tag)).size + 2);
});

it("keeps all data, keys and queues in the stack itself, and replaceable resources in nested stacks", () => {
  const typesIn = (nested: StackTemplates["main"][]): Set<string> =>
    new Set(nested.flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type)));
  const isMonitoring = (id: string): boolean => id.startsWith("Monitoring");
  const ofTags = [...templates.nested].filter(([id]) => !isMonitoring(id)).map(([, nested]) => nested);
  const monitoring = [...templates.nested].filter(([id]) => isMonitoring(id)).map(([, nested]) => nested);
  expect(typesIn(monitoring)).toEqual(
    new Set([
      "AWS::CloudWatch::Alarm",
      "AWS::CloudWatch::CompositeAlarm",
      "AWS::CloudWatch::Dashboard",
      "AWS::CodeDeploy::DeploymentGroup",
    ]),
  );
  expect(typesIn(ofTags)).toEqual(
    new Set([
      "AWS::ApiGatewayV2::Integration",
      "AWS::ApiGatewayV2::Route",
      "AWS::CloudWatch::Alarm",
      "AWS::CodeDeploy::DeploymentGroup",
      "AWS::IAM::Role",
      "AWS::Lambda::Alias",
      "AWS::Lambda::Function",
      "AWS::Lambda::Version",
    ]),
  );
  expect(typesIn([templates.main])).not.toContain("AWS::CloudWatch::Alarm");
});

/** Returns the ids to which a part of a template refers. */
function references(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === "Ref") return [String(value)];
    return key === "Fn::GetAtt" ? [String(value[0])] : references(value);
  });
}

it("refers in each template only to its own resources", () => {
  for (const { Resources, Parameters, Outputs } of [templates.main, ...templates.nested.values()]) {
    const there = new Set([...Object.keys(Resources), ...Object.keys(Parameters)]);
    const missing = references([Resources, Outputs]).filter(
      (id) => !there.has(id) && !id.startsWith("AWS::"),
    );
    expect(missing).toEqual([]);
  }
});

it("has a route and a function for each row of the table, and one for everything else", () => {
  const keys = Object.values(prod.findResources("AWS::ApiGatewayV2::Route")).map(
    (route) => z.object({ Properties: z.object({ RouteKey: z.string() }) }).parse(route).Properties.RouteKey,
  );
  const expected = Object.values<Route>(routes).flatMap((route) =>
    methodsOfRoute(route).map((method) => `${method} ${route.path}`),
  );
  expect(keys.toSorted()).toEqual([...expected, "$default", ...shadowedRouteKeys()].toSorted());
});

it("gives every function Node 24 on arm64 and a separate role", () => {
  const functions = Object.values(prod.findResources("AWS::Lambda::Function")).map(
    (each) => Function.parse(each).Properties,
  );
  for (const { Runtime, Architectures, Timeout } of functions) {
    expect(Runtime).toBe("nodejs24.x");
    expect(Architectures).toEqual(["arm64"]);
    expect(Timeout).toBeLessThanOrEqual(300);
  }
  const roles = functions.map(({ Role: role }) => role["Fn::GetAtt"][0]);
  expect(new Set(roles).size).toBe(functions.length);
});

it("disables top-ups and local webhook targets in prod", () => {
  for (const each of Object.values(prod.findResources("AWS::Lambda::Function"))) {
    expect(each).toHaveProperty("Properties.Environment.Variables.TOP_UP_ENABLED", "false");
    expect(each).toHaveProperty("Properties.Environment.Variables.WEBHOOK_TARGETS", "public");
  }
});

it("allows recursion only to workers that queue jobs for themselves", () => {
  const allowed = Object.entries(prod.findResources("AWS::Lambda::Function"))
    .filter(
      ([, each]) =>
        z.object({ Properties: z.object({ RecursiveLoop: z.string() }) }).parse(each).Properties
          .RecursiveLoop === "Allow",
    )
    .map(([id]) => id.replace(/Function[0-9A-F]{8}$/, ""));
  expect(allowed.toSorted()).toEqual([
    "CloseBooks",
    "DispatchWebhook",
    "ExportRows",
    "ProcessPayment",
    "RecordCallback",
    "RunCampaign",
    "SendMessage",
  ]);
  // A worker may send to its own queues only if its row in the table of workers allows it.
  for (const [name, { queues = {}, queuesForItself }] of Object.entries<Worker>(workers)) {
    const ownQueues = new Access(name).queues.filter((queue) => queue in queues);
    expect(ownQueues.length > 0, name).toBe(queuesForItself === true);
  }
});

it("disables the automatic retries of scheduled functions", () => {
  const configs = Object.values(prod.findResources("AWS::Lambda::EventInvokeConfig"));
  expect(configs).toHaveLength(Object.values<Worker>(workers).filter(({ schedule }) => schedule).length);
  for (const config of configs) expect(config).toHaveProperty("Properties.MaximumRetryAttempts", 0);
});

const RedrivingQueue = z.object({
  Properties: z.object({
    VisibilityTimeout: z.number(),
    RedrivePolicy: z.object({ maxReceiveCount: z.number() }),
  }),
});

it("gives every queue a dead-letter queue, and retries its jobs for hours before that", () => {
  const queues = Object.values(prod.findResources("AWS::SQS::Queue"));
  const redriving = queues.flatMap((queue) => RedrivingQueue.safeParse(queue).data ?? []);
  expect(redriving).toHaveLength(queues.length / 2);
  // An outage of hours causes no dead letters.
  for (const { Properties } of redriving) {
    const triedSeconds = Properties.RedrivePolicy.maxReceiveCount * Properties.VisibilityTimeout;
    expect(triedSeconds).toBeGreaterThanOrEqual(6 * 3_600);
  }
});

it("has the table, the queues and the meaning of a dead letter in its outputs", () => {
  const outputs = Object.keys(prod.findOutputs("*"));
  expect(outputs).toContain(outputNames.tableName);
  for (const queue of queueNames) {
    expect(outputs).toContain(outputNames.queueUrl(queue));
    const [deadLetters] = Object.values(prod.findOutputs(outputNames.deadLetterQueueUrl(queue)));
    expect(String(Object(deadLetters)["Description"]).length).toBeGreaterThan(60);
  }
});

it("connects every queue to a function that reports its failures individually", () => {
  const mappings = Object.values(prod.findResources("AWS::Lambda::EventSourceMapping"));
  expect(mappings).toHaveLength(Object.keys(prod.findResources("AWS::SQS::Queue")).length / 2);
  for (const mapping of mappings) {
    expect(mapping).toMatchObject({ Properties: { FunctionResponseTypes: ["ReportBatchItemFailures"] } });
    expect(mapping).toHaveProperty("Properties.ScalingConfig.MaximumConcurrency");
  }
});

it("has one webhook call in a batch, so that a slow call delays no other job", () => {
  const feeds = Object.entries(prod.findResources("AWS::Lambda::EventSourceMapping"))
    .filter(([id]) => id.includes("Webhook"))
    .map(([, mapping]) => mapping);
  expect(feeds).toHaveLength(2);
  for (const feed of feeds) expect(feed).toHaveProperty("Properties.BatchSize", 1);
});

it("waits for a full batch of marketing messages only", () => {
  const waiting = Object.entries(prod.findResources("AWS::Lambda::EventSourceMapping"))
    .filter(([, { Properties }]) => "MaximumBatchingWindowInSeconds" in Properties)
    .map(([id, { Properties }]) => [id.replace(/Feed.*/, ""), Properties.MaximumBatchingWindowInSeconds]);
  expect(waiting).toEqual([["MarketingSends", 1]]);
});

it("knows its stages by name only", () => {
  expect(() => stageNamed("production")).toThrow("there is no stage production, only dev, local, prod");
});

it("synthesis warns of all that a stage with data lacks, and not of a complete one", () => {
  const warningsOf = (stage: Stage): string => synthesized(stage).warnings.join("\n");
  const shipped = stageNamed("prod");
  const lacks = [
    "accepts TLS 1.0",
    "link to no terms",
    "gets the alarms",
    "has no copy",
    "costs more than usual",
  ];
  const ofProd = warningsOf(shipped);
  expect(lacks.filter((text) => !ofProd.includes(text))).toEqual([]);
  const { firewall: _firewall, ...withoutFirewall } = shipped;
  expect(warningsOf(withoutFirewall)).toMatch(/has no firewall/);
  expect(warningsOf(withoutFirewall)).not.toMatch(/TLS/);
  const certificateArn = "arn:aws:acm:us-east-1:123456789012:certificate/1";
  const complete = {
    ...shipped,
    name: "whole",
    email: { from: "sms@sms.example" },
    brand: { ...shipped.brand, termsUrl: "https://sms.example/terms" },
    domain: { name: "sms.example.com", certificateArn, hostedZoneId: "Z1" },
    alarmEmails: ["ops@sms.example"],
    backups: { retentionDays: 35 },
    monthlyBudgetUsd: 100,
  };
  expect(warningsOf(complete)).toBe("");
  expect(warningsOf(stageNamed("dev"))).toBe("");
});

it("creates at most four stacks of endpoints at the same time", () => {
  const { main } = synthesized(stageNamed("prod")).templates;
  const stacks = Object.entries(main.Resources).filter(
    ([id, { Type }]) => Type === "AWS::CloudFormation::Stack" && id.startsWith("Api"),
  );
  const ids = new Set(stacks.map(([id]) => id));
  const before = stacks.map(([, { DependsOn = [] }]) =>
    [DependsOn].flat().filter((id) => ids.has(String(id))),
  );
  expect(stacks.length).toBeGreaterThan(20);
  expect(before.filter((each) => each.length === 0)).toHaveLength(4);
  // No two wait for the same one.
  expect(new Set(before.flat()).size).toBe(stacks.length - 4);
});
