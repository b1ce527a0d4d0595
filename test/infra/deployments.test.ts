import type { Template } from "aws-cdk-lib/assertions";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { workers } from "../../infra/stack/workers.ts";
import { log } from "../../shared/platform/log.ts";
import { synthesize, synthesized } from "../support/synthesized.ts";

let prod: Template;
let dev: Template;
beforeAll(() => {
  prod = synthesized(stageNamed("prod")).template;
  dev = synthesized(stageNamed("dev")).template;
});
afterEach(() => vi.unstubAllEnvs());

const Ref = z.object({ Ref: z.string() });
const Attribute = (name: string) =>
  z.pipe(
    z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal(name)]) }),
    z.transform((value) => value["Fn::GetAtt"][0]),
  );

const AliasResource = z.object({
  Properties: z.object({ Name: z.string(), FunctionName: Ref, FunctionVersion: Attribute("Version") }),
  UpdatePolicy: z.object({
    CodeDeployLambdaAliasUpdate: z.object({
      ApplicationName: z.literal("sms-gateway-prod"),
      DeploymentGroupName: z.string(),
    }),
  }),
});

/** The aliases of prod: their ids, those of their functions and versions, and the names of their deployment groups. */
function aliases(): { id: string; functionId: string; versionId: string; groupName: string }[] {
  return Object.entries(prod.findResources("AWS::Lambda::Alias")).map(([id, resource]) => {
    const { Properties, UpdatePolicy } = AliasResource.parse(resource);
    expect(Properties.Name).toBe("live");
    return {
      id,
      functionId: Properties.FunctionName.Ref,
      versionId: Properties.FunctionVersion,
      groupName: UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName,
    };
  });
}

it("gradually deploys new code of functions that move money, and of each worker", () => {
  const ofApi = [
    "ApiCallHook",
    "ApiCancelPayment",
    "ApiCancelSms",
    "ApiDecideHeldMessage",
    "ApiGetPayment",
    "ApiReplyToConversation",
    "ApiResendVerification",
    "ApiSendBatch",
    "ApiSendSms",
    "ApiSendTemplate",
    "ApiStartVerification",
    "ApiTopUpWallet",
    "ApiUpdateWallet",
  ];
  const names = aliases().map(({ functionId }) => functionId.replace(/Function[0-9A-F]{8}$/, ""));
  expect(names.toSorted()).toEqual([...ofApi, ...Object.keys(workers).map(pascalCase)].toSorted());
});

/** The properties that name a function to call. */
const callers: Readonly<Record<string, string>> = {
  "AWS::ApiGatewayV2::Integration": "IntegrationUri",
  "AWS::Lambda::EventSourceMapping": "FunctionName",
  "AWS::Events::Rule": "Targets",
  "AWS::Lambda::Permission": "FunctionName",
  "AWS::IAM::Role": "Policies",
};

/** Returns the ids of all resources to which a part of the template refers. */
function references(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === "Ref") return [String(value)];
    return key === "Fn::GetAtt" ? [String(value[0])] : references(value);
  });
}

it("calls such a function only by its alias", () => {
  const called = Object.entries(callers).flatMap(([type, property]) => {
    const resources = Object.values(prod.findResources(type));
    expect(resources.length, type).toBeGreaterThan(0);
    return resources.flatMap((each) => references(Object(each)["Properties"][property]));
  });
  for (const { id, functionId } of aliases()) {
    expect(called).not.toContain(functionId);
    expect(called).toContain(id);
  }
  // The schedule calls the alias, so the alias disables the retries of failed calls.
  const ids = aliases().map(({ id }) => id);
  for (const config of Object.values(prod.findResources("AWS::Lambda::EventInvokeConfig"))) {
    expect(ids).toContain(references(Object(config)["Properties"]["Qualifier"])[0]);
  }
});

it("gives a new version a tenth of the calls, and rolls it back when its own alarm fires", () => {
  const groups = new Map(
    Object.values(prod.findResources("AWS::CodeDeploy::DeploymentGroup")).map((group) => [
      Group.parse(group).Properties.DeploymentGroupName,
      group,
    ]),
  );
  const [application, ...others] = Object.entries(prod.findResources("AWS::CodeDeploy::Application"));
  expect(others).toEqual([]);
  expect(application?.[1]).toHaveProperty("Properties.ApplicationName", "sms-gateway-prod");
  const alarms = prod.findResources("AWS::CloudWatch::Alarm");
  for (const { id, versionId, groupName } of aliases()) {
    const group = groups.get(groupName);
    expect(group, id).toMatchObject({
      Properties: {
        ApplicationName: { Ref: application?.[0] },
        DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent5Minutes",
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
        },
        AlarmConfiguration: { Enabled: true },
      },
    });
    const watching = Group.parse(group).Properties.AlarmConfiguration.Alarms;
    expect(watching).toHaveLength(2);
    for (const { Name } of watching) {
      const metrics = metricsOf(alarms[Name.Ref]);
      expect(metrics.length).toBeGreaterThan(0);
      for (const { Dimensions } of metrics) {
        const version = Dimensions.find((dimension) => dimension.Name === "ExecutedVersion");
        expect(version?.Value).toEqual({ "Fn::GetAtt": [versionId, "Version"] });
      }
    }
  }
});

const Group = z.object({
  Properties: z.object({
    DeploymentGroupName: z.string(),
    AlarmConfiguration: z.object({ Alarms: z.array(z.object({ Name: Ref })) }),
  }),
});

const Metric = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
});

/** Returns the metrics from which an alarm computes its value. */
function metricsOf(alarm: unknown): z.infer<typeof Metric>[] {
  const Alarm = z.object({
    Properties: z.object({
      Metrics: z.array(z.object({ MetricStat: z.optional(z.object({ Metric })) })),
    }),
  });
  return Alarm.parse(alarm).Properties.Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
}

it("has the alarms of a version in place before it gets calls", () => {
  const { main, nested } = synthesized(stageNamed("prod")).templates;
  const aliasesIn = ({ Resources }: typeof main): [id: string, resource: Record<string, unknown>][] =>
    Object.entries(Resources).filter(([, { Type }]) => Type === "AWS::Lambda::Alias");
  // The groups of workers are in the stack that monitors, those of endpoints in the stack of their tag.
  const monitoringId = [...nested.keys()].find((id) => id.startsWith("Monitoring"));
  for (const [id, { DependsOn }] of aliasesIn(main)) expect([DependsOn].flat(), id).toContain(monitoringId);
  const ofTags = [...nested.values()].flatMap(aliasesIn);
  for (const [id, { DependsOn }] of ofTags) {
    expect([DependsOn].flat(), id).toContainEqual(expect.stringMatching(/^Deployments.*Group[0-9A-F]{8}$/));
  }
  expect(aliasesIn(main).length + ofTags.length).toBe(aliases().length);
});

it("watches the errors in a version's log", () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "send-sms");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_VERSION", "7");
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  log.error("request.crashed");
  const written: unknown = JSON.parse(String(write.mock.calls[1]?.[0]));
  write.mockRestore();
  expect(written).toMatchObject({ FunctionName: "send-sms", ExecutedVersion: "7" });
  const Line = z.object({
    _aws: z.object({
      CloudWatchMetrics: z.tuple([
        z.object({
          Namespace: z.string(),
          Dimensions: z.tuple([z.array(z.string())]),
          Metrics: z.tuple([z.object({ Name: z.string() })]),
        }),
      ]),
    }),
  });
  const { _aws: embedded } = Line.parse(written);
  const [{ Namespace, Dimensions, Metrics }] = embedded.CloudWatchMetrics;
  const watched = Object.values(prod.findResources("AWS::CloudWatch::Alarm"))
    .filter((alarm) => "Metrics" in Object(alarm)["Properties"])
    .flatMap(metricsOf)
    .filter((metric) => metric.Namespace === Namespace && metric.MetricName === Metrics[0].Name);
  expect(watched).toHaveLength(aliases().length);
  for (const metric of watched) {
    expect(metric.Dimensions.map(({ Name }) => Name).toSorted()).toEqual(Dimensions[0].toSorted());
  }
});

it("counts no faults of functions without a version, as on the local gateway and in dev", () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  log.error("request.crashed");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "send-sms");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
  log.error("request.crashed");
  const lines = write.mock.calls.map(([line]) => String(line));
  write.mockRestore();
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toContain('"event":"request.crashed"');
});

it("has no gradual deployments in dev", () => {
  for (const type of ["AWS::Lambda::Alias", "AWS::Lambda::Version", "AWS::CodeDeploy::Application"]) {
    expect(Object.keys(prod.findResources(type)), type).not.toEqual([]);
    expect(dev.findResources(type), type).toEqual({});
  }
  expect(dev.findResources("AWS::CodeDeploy::DeploymentGroup")).toEqual({});
});

it("synthesizes the same template from the same tree each time", () => {
  expect(synthesize(stageNamed("prod")).template.toJSON()).toEqual(prod.toJSON());
});
