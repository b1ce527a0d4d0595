import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { deniedPermission } from "../../infra/local/permissions.ts";
import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { operations } from "../../shared/api/routes.ts";
import { functionsWith, roleStatements } from "../support/function-roles.ts";
import { roleWith } from "../support/roles.ts";
import { synthesized } from "../support/synthesized.ts";

/*
 * The roles of functions: what they may do besides reading and writing items, and what no role may do.
 */

let prod: Template;
let statements: ReturnType<typeof roleStatements>;
beforeAll(() => {
  prod = synthesized(stageNamed("prod")).template;
  statements = roleStatements(prod);
});

it("allows a top-up and a new API key if AWS checks each write against the keys of its whole transaction", () => {
  const update = (pk: string): unknown => ({ Update: { TableName: "table", Key: { pk: { S: pk } } } });
  const put = (pk: string): unknown => ({ Put: { TableName: "table", Item: { pk: { S: pk } } } });
  const denied = (name: string, ...writes: unknown[]): string | undefined => {
    const onTable = statements
      .filter((each) => each.name === name && each.condition !== undefined)
      .map(({ actions, families, besides }) => ({
        Effect: "Allow" as const,
        Action: [...actions],
        Resource: ["table"],
        Condition: {
          "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [...families, ...besides] },
          "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": [...families] },
        },
      }));
    return deniedPermission(onTable, "dynamodb:TransactWriteItems", { TransactItems: writes });
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
  const onKeys = statements.filter(({ actions }) => actions.some((action) => /^(kms:|\*)/.test(action)));
  for (const { resource } of onKeys) expect(resource).toEqual({ "Fn::GetAtt": [key?.[0], "Arn"] });
  const functionsThat = (action: string): string[] =>
    functionsWith(onKeys, ({ actions }) => actions.includes(action));
  expect(functionsThat("kms:Sign")).toEqual(["Login", "Register"]);
  const authenticated = operations().filter(([, { auth }]) => auth !== "none");
  expect(functionsThat("kms:GetPublicKey")).toEqual(
    authenticated.map(([operation]) => pascalCase(operation)).toSorted(),
  );
  expect(new Set(onKeys.flatMap(({ actions }) => actions))).toEqual(
    new Set(["kms:GetPublicKey", "kms:Sign"]),
  );
});

it("while a key of sessions is replaced, the first one signs, and the key before stays as it is", () => {
  const { template } = synthesized({ ...stageNamed("prod"), sessionKeys: ["next", ""] });
  const ids = Object.keys(template.findResources("AWS::KMS::Key"));
  const next = ids.find((id) => id.startsWith("SessionSigningKeynext"));
  expect(new Set(ids)).toEqual(new Set([...Object.keys(prod.findResources("AWS::KMS::Key")), next]));
  const resourcesOf = (action: string): Set<unknown> =>
    new Set(
      roleStatements(template)
        .filter(({ actions }) => actions.includes(action))
        .map(
          ({ resource }) => z.object({ "Fn::GetAtt": z.array(z.string()) }).parse(resource)["Fn::GetAtt"][0],
        ),
    );
  expect(resourcesOf("kms:Sign")).toEqual(new Set([next]));
  expect(resourcesOf("kms:GetPublicKey")).toEqual(new Set(ids));
});

it("lets only the worker of emails send emails, from the stage's address", () => {
  const sending = statements.filter(({ actions }) => actions.some((action) => action.startsWith("ses:")));
  expect(sending).toEqual([
    expect.objectContaining({
      name: "SendEmail",
      actions: ["ses:SendEmail"],
      condition: { StringEquals: { "ses:FromAddress": "sms@example.com" } },
    }),
  ]);
  expect(JSON.stringify(sending[0]?.resource)).toMatch(/:identity\/example\.com"/);
  expect(JSON.stringify(synthesized(stageNamed("dev")).template.toJSON())).not.toContain("ses:");
});

it("lets only the sender read carriers' credentials and use origination identities", () => {
  const reads = functionsWith(statements, ({ actions, resource }) =>
    /secretsmanager:GetSecretValue.*:secret:[\w-]+\/carriers\/\*/.test(JSON.stringify([actions, resource])),
  );
  expect(reads).toEqual(["SendMessage"]);
  const sends = functionsWith(statements, ({ actions }) => actions.includes("sms-voice:SendTextMessage"));
  expect(sends).toEqual(["SendMessage"]);
  // Only the operator changes a secret.
  const changing = functionsWith(statements, ({ actions }) =>
    actions.some((action) => /^secretsmanager:(?!Get)/.test(action)),
  );
  expect(changing).toEqual([]);
});

it("keeps every role's policy far below IAM's 10,240 characters", () => {
  const Role = roleWith(z.unknown());
  for (const role of Object.values(prod.findResources("AWS::IAM::Role"))) {
    expect(JSON.stringify(Role.parse(role).Properties.Policies).length).toBeLessThan(7_000);
  }
});

const tracingActions = new Set(["xray:PutTraceSegments", "xray:PutTelemetryRecords"]);

it("has no wildcard for actions or resources in a role", () => {
  expect(statements.length).toBeGreaterThan(operations().length);
  for (const { actions, resource } of statements) {
    expect(actions.filter((action) => action.includes("*"))).toEqual([]);
    // Permissions for X-Ray cannot name resources.
    if (actions.every((action) => tracingActions.has(action))) continue;
    expect(JSON.stringify(resource)).not.toContain('"*"');
  }
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

it("lets the API call the functions of its own routes in each stack, and nothing else", () => {
  const { main, nested } = synthesized(stageNamed("prod")).templates;
  const called: string[] = [];
  for (const { Resources } of [main, ...nested.values()]) {
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
