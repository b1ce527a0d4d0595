import { readdir, readFile, stat } from "node:fs/promises";

import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { Access, tableActions } from "../../infra/access.ts";
import { bundleFolder } from "../../infra/bundle.ts";
import { shadowedRouteKeys } from "../../infra/constructs/gateway-api.ts";
import { kebabCase, pascalCase } from "../../infra/constructs/names.ts";
import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { GatewayStack } from "../../infra/gateway-stack.ts";
import { deniedPermission } from "../../infra/local/permissions.ts";
import { stackTemplates, type StackTemplates } from "../../infra/nested-stacks.ts";
import { keptTypes } from "../../infra/replacements.ts";
import { stageNamed } from "../../infra/stages/stage.ts";
import type { Worker } from "../../infra/worker.ts";
import { workers } from "../../infra/workers.ts";
import { fallbackRoute, operations, routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";
import { callsPerMonth, hoursPerMonth } from "../benchmarks/schedules.ts";
import { roleWith } from "../support/roles.ts";
import { testApp } from "../support/test-app.ts";
import { wholeTemplate } from "../support/whole-template.ts";

/** Synthesizes the stack of a stage, and returns its folder and name. */
function synthesize(stage: string): [folder: string, stackName: string] {
  const app = testApp(`.build/test-${stage}.out`);
  const { stackName } = new GatewayStack(app, `test-${stage}`, stageNamed(stage));
  return [app.synth().directory, stackName];
}

let prod: Template;
let dev: Template;
let templates: StackTemplates;
beforeAll(() => {
  const ofProd = synthesize("prod");
  templates = stackTemplates(...ofProd);
  prod = wholeTemplate(...ofProd);
  dev = wholeTemplate(...synthesize("dev"));
});

it("has data and keys only in the main stack, and CloudFormation decides before a deployment whether it replaces them", () => {
  const keptOf = ({ Resources }: StackTemplates["main"]): (typeof Resources)[string][] =>
    Object.values(Resources).filter(({ Type }) => keptTypes.test(Type));
  expect([...templates.nested.values()].flatMap(keptOf)).toEqual([]);
  const kept = keptOf(templates.main);
  expect(kept).toHaveLength(6);
  for (const { Properties } of kept) {
    // These two change in place. A reference elsewhere could make a replacement conditional.
    const { KeyPolicy: _policy, Replicas: _replicas, ...others } = Properties;
    expect(JSON.stringify(others)).not.toMatch(/"(Ref|Fn::\w+)":/);
  }
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

const LeadingKeys = z.pipe(
  z.strictObject({ "dynamodb:LeadingKeys": z.union([z.string(), z.array(z.string())]) }),
  z.transform((keys) => ({ "dynamodb:LeadingKeys": [keys["dynamodb:LeadingKeys"]].flat() })),
);

const OnFromAddress = z.strictObject({ StringEquals: z.strictObject({ "ses:FromAddress": z.string() }) });

const Role = roleWith(
  z.union([
    z.strictObject({
      "ForAllValues:StringLike": LeadingKeys,
      "ForAnyValue:StringLike": z.optional(LeadingKeys),
      Null: z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") }),
    }),
    // The worker of emails has a separate test.
    z.pipe(
      OnFromAddress,
      z.transform(() => undefined),
    ),
  ]),
);

type Statement = z.infer<
  typeof Role
>["Properties"]["Policies"][number]["PolicyDocument"]["Statement"][number];

/** Returns the permissions of a function's role on the table. */
function tableStatements(name: string): Statement[] {
  const roles = Object.entries(prod.findResources("AWS::IAM::Role")).filter(([id]) =>
    id.includes(`${name}Role`),
  );
  expect(roles).toHaveLength(1);
  return roles
    .flatMap(([, role]) => Role.parse(role).Properties.Policies)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => Action.some((action) => action.startsWith("dynamodb:")));
}

/** Returns the families of a statement, without the other families of their transactions. */
function ownFamilies(condition: Statement["Condition"]): string[] {
  const all = condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? [];
  return condition?.["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"] ?? all;
}

/** Returns them sorted as `action family`; `action beside family` is for the other families of its transactions. */
function tableAccess(name: string): string[] {
  return tableStatements(name)
    .flatMap(({ Action, Condition }) => {
      const all = Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? ["everything"];
      const own = Condition?.["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"] ?? all;
      return Action.map((action) => action.replace("dynamodb:", "")).flatMap((action) =>
        all.map((family) => `${action} ${own.includes(family) ? "" : "beside "}${family}`),
      );
    })
    .toSorted();
}

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
    new Set(["AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::CodeDeploy::DeploymentGroup"]),
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

it("lets the API call the functions of its own routes in each stack, and nothing else", () => {
  const called: string[] = [];
  for (const { Resources } of [templates.main, ...templates.nested.values()]) {
    // The API calls a gradually deployed function by its alias.
    const aliases = Object.entries(Resources)
      .filter(([, { Type }]) => Type === "AWS::Lambda::Alias")
      .map(([id, alias]) => [id, AliasResource.parse(alias).Properties.FunctionName.Ref] as const);
    const functionOf = new Map(aliases);
    const callers = Object.entries(Resources).filter(([id]) => /^Api.*Caller[0-9A-F]{8}$/.test(id));
    const callees = callers
      .flatMap(([, caller]) => CallerRole.parse(caller).Properties.Policies)
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .flatMap(({ Resource }) => Resource)
      .map((callee) =>
        "Ref" in callee ? (functionOf.get(callee.Ref) ?? callee.Ref) : callee["Fn::GetAtt"][0],
      );
    const ofApi = Object.entries(Resources)
      .filter(([id, { Type }]) => Type === "AWS::Lambda::Function" && id.startsWith("Api"))
      .map(([id]) => id);
    expect(callees.toSorted()).toEqual(ofApi.toSorted());
    called.push(...callees);
  }
  expect(called.length).toBeGreaterThan(operations().length);
});

const AliasResource = z.object({
  Properties: z.object({ FunctionName: z.object({ Ref: z.string() }) }),
});

const Callee = z.union([
  z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
  z.object({ Ref: z.string() }),
]);
const CallerRole = z.object({
  Properties: z.object({
    Policies: z.array(
      z.object({
        PolicyDocument: z.object({
          Statement: z.array(
            z.object({
              Action: z.literal("lambda:InvokeFunction"),
              Resource: z.pipe(
                z.union([Callee, z.array(Callee)]),
                z.transform((callees) => [callees].flat()),
              ),
            }),
          ),
        }),
      }),
    ),
  }),
});

it("has a route and a function for each row of the table, and one for everything else", () => {
  const keys = Object.values(prod.findResources("AWS::ApiGatewayV2::Route")).map(
    (route) => z.object({ Properties: z.object({ RouteKey: z.string() }) }).parse(route).Properties.RouteKey,
  );
  const expected = Object.values<Route>(routes).map(({ method, path }) => `${method} ${path}`);
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

it("gives functions with outside connections no access to wallets", () => {
  expect(tableAccess("SendMessage")).toEqual([
    "GetItem MESSAGES#*",
    "GetItem OPT_OUTS#*",
    "GetItem ORG#*",
    "GetItem PRICES#*",
    "GetItem SENDER#*",
    "GetItem SENDING#*",
    "PutItem DUE#*",
    "PutItem beside MESSAGES#*",
    "Query BREAKERS#*",
    "Query CARRIERS#*",
    "Query PRICES#*",
    "UpdateItem BREAKERS#*",
    "UpdateItem MESSAGES#*",
    "UpdateItem PACE#*",
    "UpdateItem SANDBOX#*",
    "UpdateItem STATS#*",
    "UpdateItem beside DUE#*",
  ]);
  expect(tableAccess("DispatchWebhook")).toEqual([
    "DeleteItem DELIVERIES#*",
    "GetItem INBOUND#*",
    "GetItem INFLIGHT#*",
    "GetItem MESSAGES#*",
    "GetItem ORG#*",
    "GetItem WEBHOOK_SECRETS#*",
    "PutItem DELIVERIES#*",
    "PutItem DUE#*",
    "Query ORG#*",
    "UpdateItem DELIVERIES#*",
    "UpdateItem INFLIGHT#*",
    "UpdateItem ORG#*",
  ]);
});

/** Returns the functions whose role has a statement of a kind. */
function functionsWith(allows: (statement: Statement) => boolean): string[] {
  return Object.entries(prod.findResources("AWS::IAM::Role"))
    .filter(([, role]) =>
      Role.parse(role)
        .Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
        .some(allows),
    )
    .map(([id]) => id.replace(/^Api/, "").replace(/Role[0-9A-F]{8}$/, ""))
    .toSorted();
}

/** Returns the functions with permission for an action on a family. */
function functionsThatMay(action: string, family: string): string[] {
  return functionsWith(({ Action, Condition }) => {
    const all = Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? [];
    const own = Condition?.["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"] ?? all;
    return Action.includes(`dynamodb:${action}`) && own.includes(`${family}#*`);
  });
}

/** Returns the functions that may read a key in Secrets Manager. */
function functionsWithKey(name: string): string[] {
  const keyIds = Object.keys(prod.findResources("AWS::SecretsManager::Secret")).filter((id) =>
    id.startsWith(name),
  );
  expect(keyIds).toHaveLength(1);
  return functionsWith(({ Resource }) => JSON.stringify(Resource).includes(keyIds[0] ?? "no key"));
}

it("limits access to login credentials to functions that create, check or replace them", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "CREDENTIALS");
  expect(mayTouch("GetItem")).toEqual([
    "ChangePassword",
    "ConfirmTotp",
    "DeleteTotp",
    "Login",
    "Reauthenticate",
    "StartTotp",
    "VerifyEmail",
  ]);
  expect(mayTouch("Query")).toEqual(["ExpireAccounts"]);
  const putting = ["AcceptInvitation", "ChangePassword", "Register", "ResetPassword", "StartTotp"];
  expect(mayTouch("PutItem")).toEqual(putting);
  const updating = ["ChangePassword", "ConfirmTotp", "DeleteTotp", "Login", "Reauthenticate"];
  expect(mayTouch("UpdateItem")).toEqual(updating);
  expect(mayTouch("DeleteItem")).toEqual(["DeleteMember", "DeleteTotp", "ExpireAccounts", "ResetPassword"]);
});

it("lets only functions that create, change or remove members write roles", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "MEMBERS");
  expect(mayTouch("PutItem")).toEqual(["AcceptInvitation", "InviteMember", "Register", "ResetPassword"]);
  expect(mayTouch("UpdateItem")).toEqual(["UpdateMember"]);
  expect(mayTouch("DeleteItem")).toEqual([
    "AcceptInvitation",
    "DeleteMember",
    "ExpireAccounts",
    "ResetPassword",
  ]);
});

it("lets only registration, verification and changes of members write ownership and verification", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "RIGHTS");
  const changing = ["AcceptInvitation", "DeleteMember", "ResetPassword", "UpdateMember", "VerifyEmail"];
  expect(mayTouch("UpdateItem")).toEqual(changing);
  expect(mayTouch("PutItem")).toEqual(["Register", "ResetPassword"]);
  expect(mayTouch("DeleteItem")).toEqual(["ExpireAccounts"]);
});

it("lets only a KYC submission write its data, and no function decide on it", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "KYC");
  expect(mayTouch("PutItem")).toEqual(["SubmitKyc"]);
  expect(mayTouch("UpdateItem")).toEqual([]);
  expect(mayTouch("DeleteItem")).toEqual(["ExpireAccounts"]);
  // The approval is in the rights, which it may not write.
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(functionsThatMay(action, "RIGHTS"), action).not.toContain("SubmitKyc");
  }
});

it("gives the key of second factors only to functions that create or check codes", () => {
  expect(functionsWithKey("SecondFactorKey")).toEqual([
    "ChangePassword",
    "ConfirmTotp",
    "DeleteTotp",
    "Login",
    "Reauthenticate",
    "StartTotp",
  ]);
});

it("gives the secrets of webhooks and their key only to functions that create, replace or use them", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "WEBHOOK_SECRETS");
  expect(mayTouch("GetItem")).toEqual(["DispatchWebhook", "RotateWebhookSecret"]);
  expect(mayTouch("Query")).toEqual([]);
  expect(mayTouch("PutItem")).toEqual(["CreateWebhook"]);
  expect(mayTouch("UpdateItem")).toEqual(["RotateWebhookSecret"]);
  expect(mayTouch("DeleteItem")).toEqual(["DeleteWebhook", "ExpireAccounts"]);
  const haveKey = ["CreateWebhook", "DispatchWebhook", "RotateWebhookSecret"];
  expect(functionsWithKey("WebhookKey")).toEqual(haveKey);
});

it.each(["WebhookKey", "SecondFactorKey"])(
  "keeps %s, which the table is read with, as long as the table",
  (name) => {
    const keyOf = (template: Template): unknown =>
      Object.entries(template.findResources("AWS::SecretsManager::Secret")).find(([id]) =>
        id.startsWith(name),
      )?.[1];
    expect(keyOf(prod)).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
    expect(keyOf(dev)).toMatchObject({ DeletionPolicy: "Delete" });
  },
);

it("allows only to read the audit log and to append audited events", () => {
  const roles = Object.values(prod.findResources("AWS::IAM::Role")).map((role) => Role.parse(role));
  const statements = roles
    .flatMap(({ Properties }) => Properties.Policies)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Condition }) => ownFamilies(Condition).includes("AUDIT#*"));
  expect(new Set(statements.flatMap(({ Action }) => Action))).toEqual(
    new Set(["dynamodb:PutItem", "dynamodb:Query"]),
  );
  expect(tableAccess("ListAuditLog")).toContain("Query AUDIT#*");
  for (const [operation, { audited }] of Object.entries<Route>(routes)) {
    const adds =
      audited !== undefined ||
      ["acceptInvitation", "login", "register", "resetPassword", "verifyEmail"].includes(operation);
    const name = `Api${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;
    expect(tableAccess(name).includes("PutItem AUDIT#*"), operation).toBe(adds);
  }
  for (const name of Object.keys(workers)) {
    const ofWorker = tableAccess(`${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    expect(ofWorker.filter((each) => each.includes("AUDIT#"))).toEqual([]);
  }
});

it("lets only the sender read carriers' credentials and use origination identities", () => {
  const reads = functionsWith(({ Action, Resource }) =>
    /secretsmanager:GetSecretValue.*:secret:[\w-]+\/carriers\/\*/.test(JSON.stringify([Action, Resource])),
  );
  expect(reads).toEqual(["SendMessage"]);
  const sends = functionsWith(({ Action }) => Action.includes("sms-voice:SendTextMessage"));
  expect(sends).toEqual(["SendMessage"]);
  // Only the operator changes a carrier, a route or a secret of a carrier.
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(functionsThatMay(action, "CARRIERS"), action).toEqual([]);
  }
  expect(functionsWith(({ Action }) => Action.some((each) => /^secretsmanager:(?!Get)/.test(each)))).toEqual(
    [],
  );
});

it("lets no function pause sending or payments, or suspend an organization's wallet", () => {
  const roles = Object.values(prod.findResources("AWS::IAM::Role")).map((role) => Role.parse(role));
  const actions = roles
    .flatMap(({ Properties }) => Properties.Policies)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Condition }) => JSON.stringify(Condition)?.includes("SENDING#"))
    .flatMap(({ Action }) => Action);
  expect(new Set(actions)).toEqual(new Set(["dynamodb:GetItem"]));
});

it("lets a send debit and record, and no more", () => {
  expect(tableAccess("SendSms")).toEqual([
    "BatchGetItem KEY#*",
    "BatchGetItem ORG#*",
    "DeleteItem IDEMPOTENCY#*",
    "DeleteItem MESSAGES#*",
    "GetItem IDEMPOTENCY#*",
    "GetItem KEY#*",
    "GetItem LEDGER#*",
    "GetItem MEMBERS#*",
    "GetItem OPT_OUTS#*",
    "GetItem ORG#*",
    "GetItem PRICES#*",
    "GetItem RIGHTS#*",
    "GetItem SENDER#*",
    "GetItem USER#*",
    "GetItem WALLET#*",
    "PutItem DUE#*",
    "PutItem HELD#*",
    "PutItem IDEMPOTENCY#*",
    "PutItem LEDGER#*",
    "PutItem MESSAGES#*",
    "PutItem beside WALLET#*",
    "Query PRICES#*",
    "UpdateItem IDEMPOTENCY#*",
    "UpdateItem KEY_USES#*",
    "UpdateItem LIMIT#*",
    "UpdateItem STATS#*",
    "UpdateItem WALLET#*",
    "UpdateItem beside DUE#*",
    "UpdateItem beside HELD#*",
    "UpdateItem beside LEDGER#*",
    "UpdateItem beside MESSAGES#*",
  ]);
});

it("allows a top-up and a new API key if AWS checks each write against the keys of its whole transaction", () => {
  const update = (pk: string): unknown => ({ Update: { TableName: "table", Key: { pk: { S: pk } } } });
  const put = (pk: string): unknown => ({ Put: { TableName: "table", Item: { pk: { S: pk } } } });
  const denied = (name: string, ...writes: unknown[]): string | undefined => {
    const statements = tableStatements(name).map((statement) => ({ ...statement, Resource: ["table"] }));
    return deniedPermission(
      statements.map((statement) => ({ ...statement, Effect: "Allow" })),
      "dynamodb:TransactWriteItems",
      { TransactItems: writes },
    );
  };
  const topUp = [update("WALLET#org_1"), put("LEDGER#org_1"), update("IDEMPOTENCY#org_1#1")];
  expect(denied("TopUpWallet", ...topUp)).toBeUndefined();
  const check = (pk: string): unknown => ({
    ConditionCheck: { TableName: "table", Key: { pk: { S: pk } } },
  });
  const newKey = [update("ORG#org_1"), put("ORG#org_1"), put("KEY#1")];
  const ofMaker = [check("USER#usr_1"), check("MEMBERS#org_1")];
  expect(denied("CreateApiKey", ...newKey, ...ofMaker)).toBeUndefined();
  // No write gets further permissions from another write of its transaction.
  expect(denied("TopUpWallet", update("WALLET#org_1"), update("LEDGER#org_1"))).toBe(
    "dynamodb:UpdateItem on LEDGER#*",
  );
  expect(denied("CreateApiKey", update("ORG#org_1"), update("KEY#1"))).toBe("dynamodb:UpdateItem on KEY#*");
});

it("lets only registration and login sign sessions, and only endpoints read the key", () => {
  const [key, ...others] = Object.entries(prod.findResources("AWS::KMS::Key"));
  expect(others).toEqual([]);
  expect(key?.[1]).toMatchObject({ Properties: { KeySpec: "ECC_NIST_P256", KeyUsage: "SIGN_VERIFY" } });
  const allowed = Object.entries(prod.findResources("AWS::IAM::Role")).flatMap(([id, role]) =>
    Role.parse(role)
      .Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter(({ Action }) => Action.some((action) => /^(kms:|\*)/.test(action)))
      .map(({ Action, Resource }) => {
        expect(Resource).toEqual({ "Fn::GetAtt": [key?.[0], "Arn"] });
        return [id.replace(/^Api(\w+)Role[0-9A-F]{8}$/, "$1"), ...Action] as const;
      }),
  );
  const withAction = (action: string): string[] =>
    allowed.filter(([, ...actions]) => actions.includes(action)).map(([name]) => name);
  expect(withAction("kms:Sign").toSorted()).toEqual(["Login", "Register"]);
  const authenticated = operations().filter(([, { auth }]) => auth !== "none");
  expect(withAction("kms:GetPublicKey").toSorted()).toEqual(
    authenticated.map(([operation]) => pascalCase(operation)).toSorted(),
  );
  expect(new Set(allowed.flatMap(([, ...actions]) => actions))).toEqual(
    new Set(["kms:GetPublicKey", "kms:Sign"]),
  );
});

it("lets only the worker of emails send emails, from the stage's address", () => {
  const sending = Object.entries(prod.findResources("AWS::IAM::Role")).flatMap(([id, role]) =>
    roleWith(z.unknown())
      .parse(role)
      .Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter(({ Action }) => Action.some((action) => action.startsWith("ses:")))
      .map(({ Action, Resource, Condition }) => ({ id, Action, Resource, Condition })),
  );
  expect(sending).toHaveLength(1);
  const [{ id, Action, Resource, Condition } = { id: "" }] = sending;
  expect(id).toMatch(/^SendEmailRole/);
  expect(Action).toEqual(["ses:SendEmail"]);
  expect(JSON.stringify(Resource)).toMatch(/:identity\/example\.com"/);
  expect(OnFromAddress.parse(Condition)).toEqual({ StringEquals: { "ses:FromAddress": "sms@example.com" } });
  expect(JSON.stringify(dev.toJSON())).not.toContain("ses:");
});

it("keeps every role's policy far below IAM's 10,240 characters", () => {
  for (const role of Object.values(prod.findResources("AWS::IAM::Role"))) {
    expect(JSON.stringify(Role.parse(role).Properties.Policies).length).toBeLessThan(7_000);
  }
});

const tracingActions = new Set(["xray:PutTraceSegments", "xray:PutTelemetryRecords"]);

it("has no wildcard for actions or resources in a role", () => {
  for (const role of Object.values(prod.findResources("AWS::IAM::Role"))) {
    for (const { PolicyDocument } of Role.parse(role).Properties.Policies) {
      for (const { Action, Resource } of PolicyDocument.Statement) {
        expect(Action.filter((action) => action.includes("*"))).toEqual([]);
        // Permissions for X-Ray cannot name resources.
        if (Action.every((action) => tracingActions.has(action))) continue;
        expect(JSON.stringify(Resource)).not.toContain('"*"');
      }
    }
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
    DeletionPolicy: "Retain",
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
    "DispatchWebhook",
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

it("knows its stages by name only", () => {
  expect(() => stageNamed("production")).toThrow("there is no stage production, only dev, local, prod");
});

/** The text in a bundle that shows the client of a service. */
const clients = {
  table: "com.amazonaws.dynamodb",
  queues: "com.amazonaws.sqs",
  sessionKey: "com.amazonaws.kms",
  secrets: "com.amazonaws.secretsmanager",
  email: "com.amazonaws.sesv2",
  documents: "com.amazonaws.s3",
};

/** Whether permissions are for each client. */
const needs: Readonly<Record<keyof typeof clients, (access: Access) => boolean>> = {
  table: (access) => tableActions.some((action) => access.familiesOf(action).length > 0),
  queues: ({ queues }) => queues.length > 0,
  sessionKey: (access) => access.may("checkSessions") || access.may("startSessions"),
  secrets: (access) =>
    (["webhookKey", "callbackSecrets", "carrier", "secondFactorKey", "paymentProvider"] as const).some(
      (each) => access.may(each),
    ),
  email: (access) => access.may("email"),
  documents: (access) => access.may("readDocuments") || access.may("writeDocuments"),
};

const functions = [
  ...operations().map(
    ([operation, route]) => [`${route.tag}/${kebabCase(operation)}`, new Access(operation, route)] as const,
  ),
  ...Object.keys(workers).map((name) => [`workers/${kebabCase(name)}`, new Access(name)] as const),
  ["fallback/not-found", new Access("notFound", fallbackRoute)] as const,
];

it.each(functions)(
  "%s carries the clients that its permissions are for, and no other",
  async (name, access) => {
    const bundle = (await modulesOf(name)).join("");
    const carried = Object.entries(clients).filter(([, mark]) => bundle.includes(mark));
    const needed = Object.entries(needs).filter(([, isNeeded]) => isNeeded(access));
    expect(carried.map(([client]) => client)).toEqual(needed.map(([client]) => client));
  },
);

/** Returns the files of a function's bundle: `index.mjs`, and the files that it loads later. */
async function modulesOf(name: string): Promise<string[]> {
  const files = (await readdir(bundleFolder(name))).filter((file) => file.endsWith(".mjs"));
  return Promise.all(files.map(async (file) => readFile(`${bundleFolder(name)}/${file}`, "utf8")));
}

it.each(functions)("%s loads less than 300 kB", async (name) => {
  expect((await stat(`${bundleFolder(name)}/index.mjs`)).size).toBeLessThan(300_000);
});

it("the health check includes neither the table nor the sessions nor a schema", async () => {
  // A schema adds 75 kB of zod, the table 60 kB of the SDK.
  expect((await stat(`${bundleFolder("health/get-health")}/index.mjs`)).size).toBeLessThan(25_000);
});

it("a function that lets customers in loads the client of KMS only for a session", async () => {
  const index = await readFile(`${bundleFolder("sms/send-sms")}/index.mjs`, "utf8");
  expect(index.includes(clients.sessionKey)).toBe(false);
  expect(index.includes('import("./shared__platform__auth__key-service.mjs")')).toBe(true);
});
