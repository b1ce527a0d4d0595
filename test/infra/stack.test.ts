import { readdir, readFile, stat } from "node:fs/promises";

import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { accessOf } from "../../infra/access.ts";
import { bundleFolder } from "../../infra/bundle.ts";
import { shadowedRouteKeys } from "../../infra/constructs/gateway-api.ts";
import { kebabCase, pascalCase } from "../../infra/constructs/names.ts";
import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { GatewayStack } from "../../infra/gateway-stack.ts";
import { deniedPermission } from "../../infra/local/permissions.ts";
import { stackTemplates, type StackTemplates } from "../../infra/nested-stacks.ts";
import { stageNamed } from "../../infra/stages/stage.ts";
import { workers, type Worker } from "../../infra/workers.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";
import { operations, routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";
import { roleWith } from "../support/roles.ts";
import { testApp } from "../support/test-app.ts";
import { wholeTemplate } from "../support/whole-template.ts";

/** Synthesizes the stack of a stage, and says where it is and what it is called. */
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

const Function = z.object({
  Properties: z.object({
    Runtime: z.string(),
    Architectures: z.array(z.string()),
    Timeout: z.number(),
    Role: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
  }),
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
    // Of the worker of emails, which a test of its own looks at.
    z.pipe(
      OnFromAddress,
      z.transform(() => undefined),
    ),
  ]),
);

type Statement = z.infer<
  typeof Role
>["Properties"]["Policies"][number]["PolicyDocument"]["Statement"][number];

/** What the role of a function allows on the table. */
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

/** The families that a statement is for, without those that may stand beside them. */
function ownFamilies(condition: Statement["Condition"]): string[] {
  const all = condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? [];
  return condition?.["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"] ?? all;
}

/** The same as `action family`, sorted; `action beside family` is what else may stand in its transactions. */
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

it("keeps all data, keys and queues in the stack itself, and makes nested stacks of what can be made again", () => {
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

/** What a part of a template refers to by its id. */
function references(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === "Ref") return [String(value)];
    return key === "Fn::GetAtt" ? [String(value[0])] : references(value);
  });
}

it("refers in each of its templates to what is in it", () => {
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
    // A function whose new code comes in gradually is called by its alias.
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

it("gives every function Node 24 on arm64 and a role that no other has", () => {
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

it("lets what talks to the outside touch no wallet", () => {
  expect(tableAccess("SendMessage")).toEqual([
    "GetItem CONTACTS#*",
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
    "GetItem MESSAGES#*",
    "GetItem OPENCALLS#*",
    "GetItem ORG#*",
    "GetItem WEBHOOK_SECRETS#*",
    "PutItem DELIVERIES#*",
    "PutItem DUE#*",
    "Query ORG#*",
    "UpdateItem DELIVERIES#*",
    "UpdateItem OPENCALLS#*",
    "UpdateItem ORG#*",
  ]);
});

/** The functions whose role has a statement of a kind. */
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

/** The functions that an action is allowed to on a family. */
function functionsThatMay(action: string, family: string): string[] {
  return functionsWith(({ Action, Condition }) => {
    const all = Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? [];
    const own = Condition?.["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"] ?? all;
    return Action.includes(`dynamodb:${action}`) && own.includes(`${family}#*`);
  });
}

/** The functions that may read a key that the stack keeps in Secrets Manager. */
function functionsWithKey(name: string): string[] {
  const keyIds = Object.keys(prod.findResources("AWS::SecretsManager::Secret")).filter((id) =>
    id.startsWith(name),
  );
  expect(keyIds).toHaveLength(1);
  return functionsWith(({ Resource }) => JSON.stringify(Resource).includes(keyIds[0] ?? "no key"));
}

it("lets only what makes, checks or replaces what a log-in is checked with touch it", () => {
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
  expect(mayTouch("UpdateItem")).toEqual(["ConfirmTotp", "DeleteTotp", "Login", "Reauthenticate"]);
  expect(mayTouch("DeleteItem")).toEqual([
    "DeleteMember",
    "DeleteTotp",
    "ExpireAccounts",
    "ResetPassword",
    "VerifyEmail",
  ]);
});

it("lets only what makes, changes or removes members write what role somebody has", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "MEMBERS");
  expect(mayTouch("PutItem")).toEqual(["AcceptInvitation", "InviteMember", "Register"]);
  expect(mayTouch("UpdateItem")).toEqual(["UpdateMember"]);
  expect(mayTouch("DeleteItem")).toEqual([
    "AcceptInvitation",
    "DeleteMember",
    "ExpireAccounts",
    "ResetPassword",
    "VerifyEmail",
  ]);
});

it("lets only what registers, verifies or changes members write who owns an organization and who is verified", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "RIGHTS");
  const changing = ["AcceptInvitation", "DeleteMember", "ResetPassword", "UpdateMember", "VerifyEmail"];
  expect(mayTouch("UpdateItem")).toEqual(changing);
  expect(mayTouch("PutItem")).toEqual(["Register"]);
  expect(mayTouch("DeleteItem")).toEqual(["ExpireAccounts"]);
});

it("lets only a submission write what customers submit for KYC, and no function decide on it", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "KYC");
  expect(mayTouch("PutItem")).toEqual(["SubmitKyc"]);
  expect(mayTouch("UpdateItem")).toEqual([]);
  expect(mayTouch("DeleteItem")).toEqual(["ExpireAccounts"]);
  // An approval counts in the rights, which it may not write.
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(functionsThatMay(action, "RIGHTS"), action).not.toContain("SubmitKyc");
  }
});

it("lets only what makes or checks codes have the key of second factors", () => {
  expect(functionsWithKey("SecondFactorKey")).toEqual([
    "ConfirmTotp",
    "DeleteTotp",
    "Login",
    "Reauthenticate",
    "StartTotp",
  ]);
});

it("lets only what makes, replaces or uses the secrets of webhooks touch them, and have their key", () => {
  const mayTouch = (action: string): string[] => functionsThatMay(action, "WEBHOOK_SECRETS");
  expect(mayTouch("GetItem")).toEqual(["DispatchWebhook", "RotateWebhookSecret"]);
  expect(mayTouch("Query")).toEqual([]);
  expect(mayTouch("PutItem")).toEqual(["CreateWebhook"]);
  expect(mayTouch("UpdateItem")).toEqual(["RotateWebhookSecret"]);
  expect(mayTouch("DeleteItem")).toEqual(["DeleteWebhook", "ExpireAccounts", "ResetPassword", "VerifyEmail"]);
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

it("lets nothing but read the audit log and add to it, and add only what is audited", () => {
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

it("lets the sender alone read what carriers know the stage by, and use what messages come from", () => {
  const reads = functionsWith(({ Action, Resource }) =>
    /secretsmanager:GetSecretValue.*:secret:[\w-]+\/carriers\/\*/.test(JSON.stringify([Action, Resource])),
  );
  expect(reads).toEqual(["SendMessage"]);
  const sends = functionsWith(({ Action }) => Action.includes("sms-voice:SendTextMessage"));
  expect(sends).toEqual(["SendMessage"]);
  // Nobody but the operator changes a carrier, a route or a secret of one.
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(functionsThatMay(action, "CARRIERS"), action).toEqual([]);
  }
  expect(functionsWith(({ Action }) => Action.some((each) => /^secretsmanager:(?!Get)/.test(each)))).toEqual(
    [],
  );
});

it("lets no function pause what the stage sends, or suspend an organisation's wallet", () => {
  const roles = Object.values(prod.findResources("AWS::IAM::Role")).map((role) => Role.parse(role));
  const actions = roles
    .flatMap(({ Properties }) => Properties.Policies)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Condition }) => JSON.stringify(Condition)?.includes("SENDING#"))
    .flatMap(({ Action }) => Action);
  expect(actions).toEqual(["dynamodb:GetItem"]);
});

it("lets a send debit and record, and no more", () => {
  expect(tableAccess("SendSms")).toEqual([
    "BatchGetItem KEY#*",
    "BatchGetItem ORG#*",
    "DeleteItem IDEMPOTENCY#*",
    "DeleteItem MESSAGES#*",
    "GetItem CONTACTS#*",
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
    "UpdateItem beside LEDGER#*",
    "UpdateItem beside MESSAGES#*",
  ]);
});

it("lets a top-up and a new API key pass if AWS judges each write by the keys of its whole transaction", () => {
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
  // No write gets more than is its own by standing beside another.
  expect(denied("TopUpWallet", update("WALLET#org_1"), update("LEDGER#org_1"))).toBe(
    "dynamodb:UpdateItem on LEDGER#*",
  );
  expect(denied("CreateApiKey", update("ORG#org_1"), update("KEY#1"))).toBe("dynamodb:UpdateItem on KEY#*");
});

it("lets registration and log-in alone sign sessions, and nothing but endpoints look at the key", () => {
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

it("lets the worker of emails send from the stage's address, and nothing else send any", () => {
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

it("keeps every role's policy far below the 10,240 characters that IAM takes", () => {
  for (const role of Object.values(prod.findResources("AWS::IAM::Role"))) {
    expect(JSON.stringify(Role.parse(role).Properties.Policies).length).toBeLessThan(7_000);
  }
});

const tracingActions = new Set(["xray:PutTraceSegments", "xray:PutTelemetryRecords"]);

it("lets no role do everything with something, or something with everything", () => {
  for (const role of Object.values(prod.findResources("AWS::IAM::Role"))) {
    for (const { PolicyDocument } of Role.parse(role).Properties.Policies) {
      for (const { Action, Resource } of PolicyDocument.Statement) {
        expect(Action.filter((action) => action.includes("*"))).toEqual([]);
        // X-Ray knows no resources that a permission could name.
        if (Action.every((action) => tracingActions.has(action))) continue;
        expect(JSON.stringify(Resource)).not.toContain('"*"');
      }
    }
  }
});

it("keeps the table of prod whatever happens, and lets dev go with its stack", () => {
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
  // Its index has no data, so that whoever may list it learns nothing.
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

it("lets those workers alone run in chains of their own that queue jobs for themselves", () => {
  const allowed = Object.entries(prod.findResources("AWS::Lambda::Function"))
    .filter(
      ([, each]) =>
        z.object({ Properties: z.object({ RecursiveLoop: z.string() }) }).parse(each).Properties
          .RecursiveLoop === "Allow",
    )
    .map(([id]) => id.replace(/Function[0-9A-F]{8}$/, ""));
  expect(allowed.toSorted()).toEqual(["DispatchWebhook", "RecordCallback", "RunCampaign", "SendMessage"]);
  // A worker may only send to the queues that feed it if its row says so.
  for (const [name, { access, queues = {}, queuesForItself }] of Object.entries<Worker>(workers)) {
    const ownQueues = Object.keys(queues).filter((queue) => access.queues?.some((each) => each === queue));
    expect(ownQueues.length > 0, name).toBe(queuesForItself === true);
  }
});

it("lets no scheduled function be called again by itself when it failed", () => {
  const configs = Object.values(prod.findResources("AWS::Lambda::EventInvokeConfig"));
  expect(configs).toHaveLength(4);
  for (const config of configs) expect(config).toHaveProperty("Properties.MaximumRetryAttempts", 0);
});

const RedrivingQueue = z.object({
  Properties: z.object({
    VisibilityTimeout: z.number(),
    RedrivePolicy: z.object({ maxReceiveCount: z.number() }),
  }),
});

it("gives every queue a dead-letter queue, and tries its jobs for hours before they get there", () => {
  const queues = Object.values(prod.findResources("AWS::SQS::Queue"));
  const redriving = queues.flatMap((queue) => RedrivingQueue.safeParse(queue).data ?? []);
  expect(redriving).toHaveLength(queues.length / 2);
  // An outage of hours parks nothing.
  for (const { Properties } of redriving) {
    const triedSeconds = Properties.RedrivePolicy.maxReceiveCount * Properties.VisibilityTimeout;
    expect(triedSeconds).toBeGreaterThanOrEqual(6 * 3_600);
  }
});

it("says in its outputs where the operator finds the table, the queues and what a parked job means", () => {
  const outputs = Object.keys(prod.findOutputs("*"));
  expect(outputs).toContain(outputNames.tableName);
  for (const queue of queueNames) {
    expect(outputs).toContain(outputNames.queueUrl(queue));
    const [deadLetters] = Object.values(prod.findOutputs(outputNames.deadLetterQueueUrl(queue)));
    expect(String(Object(deadLetters)["Description"]).length).toBeGreaterThan(60);
  }
});

it("has every queue feed a function that reports its failures one by one", () => {
  const mappings = Object.values(prod.findResources("AWS::Lambda::EventSourceMapping"));
  expect(mappings).toHaveLength(Object.keys(prod.findResources("AWS::SQS::Queue")).length / 2);
  for (const mapping of mappings) {
    expect(mapping).toMatchObject({ Properties: { FunctionResponseTypes: ["ReportBatchItemFailures"] } });
    expect(mapping).toHaveProperty("Properties.ScalingConfig.MaximumConcurrency");
  }
});

it("lets a webhook call that takes its time hold up no other job of its batch", () => {
  const feeds = Object.entries(prod.findResources("AWS::Lambda::EventSourceMapping"))
    .filter(([id]) => id.includes("Webhook"))
    .map(([, mapping]) => mapping);
  expect(feeds).toHaveLength(2);
  for (const feed of feeds) expect(feed).toHaveProperty("Properties.BatchSize", 1);
});

it("knows its stages by name only", () => {
  expect(() => stageNamed("production")).toThrow("there is no stage production, only dev, local, prod");
});

/** What tells in a bundle that it carries the client of a service. */
const clients = {
  table: "com.amazonaws.dynamodb",
  queues: "com.amazonaws.sqs",
  sessionKey: "com.amazonaws.kms",
  secrets: "com.amazonaws.secretsmanager",
  email: "com.amazonaws.sesv2",
};

/** Which of them a grant is for, where it has another name. */
const clientOfGrant = new Map([
  ["transactions", "table"],
  ["webhookKey", "secrets"],
  ["callbackSecrets", "secrets"],
  ["carrier", "secrets"],
  ["secondFactorKey", "secrets"],
]);

const functions = [
  ...operations().map(
    ([operation, route]) => [`${route.tag}/${kebabCase(operation)}`, accessOf(operation, route)] as const,
  ),
  ...Object.entries<Worker>(workers).map(
    ([name, { access }]) => [`workers/${kebabCase(name)}`, access] as const,
  ),
  ["fallback/not-found", {}] as const,
];

it.each(functions)(
  "%s carries the clients that its permissions are for, and no other",
  async (name, access) => {
    const bundle = (await modulesOf(name)).join("");
    const carried = Object.entries(clients).filter(([, mark]) => bundle.includes(mark));
    const allowed = Object.entries(access).filter(
      ([, grant]) => Object.keys(grant).length > 0 || grant === true,
    );
    const granted = new Set(allowed.map(([each]) => clientOfGrant.get(each) ?? each));
    expect(carried.map(([client]) => client)).toEqual(
      Object.keys(clients).filter((client) => granted.has(client)),
    );
  },
);

/** What a function's bundle consists of: `index.mjs`, and what it loads when it first needs it. */
async function modulesOf(name: string): Promise<string[]> {
  const files = (await readdir(bundleFolder(name))).filter((file) => file.endsWith(".mjs"));
  return Promise.all(files.map(async (file) => readFile(`${bundleFolder(name)}/${file}`, "utf8")));
}

it.each(functions)("%s loads less than 300 kB", async (name) => {
  expect((await stat(`${bundleFolder(name)}/index.mjs`)).size).toBeLessThan(300_000);
});

it("the health check carries neither the table nor the sessions nor a schema", async () => {
  // A schema brings 75 kB of zod, the table 60 kB of the SDK.
  expect((await stat(`${bundleFolder("health/get-health")}/index.mjs`)).size).toBeLessThan(25_000);
});

it("a function that lets customers in loads the client of KMS only for a session", async () => {
  const index = await readFile(`${bundleFolder("sms/send-sms")}/index.mjs`, "utf8");
  expect(index.includes(clients.sessionKey)).toBe(false);
  expect(index.includes('import("./shared__platform__auth__key-service.mjs")')).toBe(true);
});
