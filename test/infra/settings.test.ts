import type { Stack } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { shadowedRouteKeys } from "../../infra/stack/constructs/gateway-api.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { synthesized } from "../support/synthesized.ts";

let stack: Stack;
let template: Template;
beforeAll(() => {
  ({ stack, template } = synthesized({
    ...stageNamed("dev"),
    account: "123456789012",
    region: "eu-west-1",
    currency: "EUR",
    docsEnabled: false,
    throttle: {
      rateLimit: 300,
      burstLimit: 200,
      anonymous: { rateLimit: 7, burstLimit: 9 },
      carriers: { rateLimit: 90, burstLimit: 91 },
      paymentEvents: { rateLimit: 80, burstLimit: 81 },
      unknownPaths: { rateLimit: 70, burstLimit: 71 },
      operations: {
        sendSms: { rateLimit: 50, burstLimit: 20 },
        login: { rateLimit: 3, burstLimit: 5 },
      },
    },
    logRetentionDays: 400,
    workerConcurrency: { refunds: 7 },
    reservedConcurrency: { sendSms: 40, refundMessage: 9 },
    tags: { "cost-centre": "messaging" },
  }));
});

/** Returns the properties of all resources of a type, with their logical ids. */
function resources<Schema extends z.ZodMiniType>(type: string, schema: Schema): [string, z.output<Schema>][] {
  const resource = z.object({ Properties: z.unknown() });
  return Object.entries(template.findResources(type)).map(([id, each]) => [
    id,
    schema.parse(resource.parse(each).Properties),
  ]);
}

it("belongs to the account and the region of its stage, and its resources carry the stage's tags", () => {
  expect(stack.environment).toBe("aws://123456789012/eu-west-1");
  expect(stack.tags.tagValues()).toMatchObject({ stage: "dev", "cost-centre": "messaging" });
});

it("warns only of an address that is an example", () => {
  const warnings = ["sms@example.com", "sms@gateway.test"].map((from) => {
    const { warnings: all } = synthesized({ ...stageNamed("dev"), email: { from, name: "SMS gateway" } });
    return all.filter((warning) => warning.includes("set email.from")).length;
  });
  expect(warnings).toEqual([1, 0]);
});

it("gives its currency to all functions, and to the operator's commands", () => {
  const environment = z.object({
    Environment: z.object({ Variables: z.looseObject({ CURRENCY: z.string() }) }),
  });
  const functions = resources("AWS::Lambda::Function", environment);
  expect(new Set(functions.map(([, { Environment }]) => Environment.Variables.CURRENCY))).toEqual(
    new Set(["EUR"]),
  );
  expect(template.findOutputs("Currency")).toMatchObject({ Currency: { Value: "EUR" } });
});

it("serves no reference if the stage disables it", () => {
  const keys = resources("AWS::ApiGatewayV2::Route", z.object({ RouteKey: z.string() })).map(
    ([, { RouteKey }]) => RouteKey,
  );
  expect(keys).toContain("POST /v1/sms/send");
  expect(keys).toContain("GET /health");
  expect(keys.filter((key) => /^GET \/(docs.*|openapi\.json)$/.test(key))).toEqual([]);
  // The console's settings have it.
  const environment = z.object({ Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }) });
  const functions = resources("AWS::Lambda::Function", environment);
  const [, page] = functions.find(([id]) => /^ApiGetConsole(?!File)/.test(id)) ?? [];
  expect(page?.Environment.Variables).toMatchObject({
    DOCS_ENABLED: "false",
    PAYMENTS_ENABLED: "false",
    CARRIER: "sandbox",
  });
});

it("limits the requests of the whole API and of single operations", () => {
  const [[id, apiStage] = [], ...others] = resources("AWS::ApiGatewayV2::Stage", z.looseObject({}));
  expect(others).toEqual([]);
  expect(apiStage).toMatchObject({
    DefaultRouteSettings: { ThrottlingRateLimit: 300, ThrottlingBurstLimit: 200 },
    RouteSettings: {
      "POST /v1/sms/send": { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 20 },
      "POST /v1/auth/login": { ThrottlingRateLimit: 3, ThrottlingBurstLimit: 5 },
    },
  });
  // API Gateway accepts limits only for existing routes.
  const { DependsOn } = z
    .object({ DependsOn: z.array(z.string()) })
    .parse(template.toJSON()["Resources"][String(id)]);
  for (const stackOfRoute of [/^ApiSmsNestedStack/, /^ApiAuthNestedStack/, /^ApiFallbackNestedStack/]) {
    expect(DependsOn).toContainEqual(expect.stringMatching(stackOfRoute));
  }
});

it("gives each route without a credential a separate limit, so that it cannot exhaust the shared one", () => {
  const [[, apiStage] = []] = resources(
    "AWS::ApiGatewayV2::Stage",
    z.object({ RouteSettings: z.record(z.string(), z.object({ ThrottlingRateLimit: z.number() })) }),
  );
  const limited = Object.entries(apiStage?.RouteSettings ?? {}).map(
    ([route, { ThrottlingRateLimit }]) => `${route} ${ThrottlingRateLimit}`,
  );
  // This stage has no reference.
  const expected = [
    "$default 70",
    "GET / 7",
    "GET /brand/{file} 7",
    "GET /console 7",
    "GET /console/{file} 7",
    "GET /health 7",
    "GET /v1/carriers/{carrier}/{callback} 90",
    "POST /v1/carriers/{carrier}/{callback} 90",
    "POST /v1/auth/register 7",
    "POST /v1/auth/console-session 3",
    "POST /v1/payments/events/{provider} 80",
    "POST /v1/hooks/{id} 70",
    "POST /v1/auth/login 3",
    "POST /v1/auth/verify-email 7",
    "POST /v1/auth/password-reset/request 7",
    "POST /v1/auth/password-reset 7",
    "POST /v1/auth/accept-invitation 7",
    "GET /account 7",
  ];
  const heads = expected
    .filter((limit) => limit.startsWith("GET "))
    .map((limit) => limit.replace("GET", "HEAD"));
  // The fallback's routes next to routes with parameters have its limit too.
  const shadowed = shadowedRouteKeys().map((routeKey) => `${routeKey} 70`);
  expect(limited.toSorted()).toEqual([...expected, ...heads, ...shadowed, "POST /v1/sms/send 50"].toSorted());
});

it("keeps its logs for the retention of the stage", () => {
  const groups = resources("AWS::Logs::LogGroup", z.object({ RetentionInDays: z.number() }));
  expect(groups.length).toBeGreaterThan(1);
  for (const [, { RetentionInDays }] of groups) expect(RetentionInDays).toBe(400);
});

it("sets the concurrency of workers, and the reservations of functions", () => {
  const feeds = resources(
    "AWS::Lambda::EventSourceMapping",
    z.object({ ScalingConfig: z.object({ MaximumConcurrency: z.number() }) }),
  );
  const ofRefunds = feeds.filter(([id]) => id.startsWith("Refunds"));
  expect(ofRefunds.map(([, { ScalingConfig }]) => ScalingConfig.MaximumConcurrency)).toEqual([7]);

  const reserved = resources(
    "AWS::Lambda::Function",
    z.object({ ReservedConcurrentExecutions: z.optional(z.number()) }),
  ).filter(([, { ReservedConcurrentExecutions: calls }]) => calls !== undefined);
  const byFunction = reserved.map(([id, properties]) => [
    id.replace(/Function[0-9A-F]{8}$/, ""),
    properties.ReservedConcurrentExecutions,
  ]);
  expect(Object.fromEntries(byFunction)).toEqual({ ApiSendSms: 40, RefundMessage: 9 });
});
