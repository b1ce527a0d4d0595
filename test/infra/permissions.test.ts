import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";

import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { workers } from "../../infra/stack/workers.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { functionsWith, roleStatements, tableAccess } from "../support/function-roles.ts";
import { synthesized } from "../support/synthesized.ts";

/*
 * Which functions may read and write the items that rights, secrets and money depend on.
 */

let prod: Template;
let statements: ReturnType<typeof roleStatements>;
beforeAll(() => {
  prod = synthesized(stageNamed("prod")).template;
  statements = roleStatements(prod);
});

/** Returns the functions with permission for an action on a family. */
function functionsThatMay(action: string, family: string): string[] {
  return functionsWith(
    statements,
    ({ actions, families }) => actions.includes(`dynamodb:${action}`) && families.includes(`${family}#*`),
  );
}

/** Returns the functions that may read a key in Secrets Manager. */
function functionsWithKey(name: string): string[] {
  const keyIds = Object.keys(prod.findResources("AWS::SecretsManager::Secret")).filter((id) =>
    id.startsWith(name),
  );
  expect(keyIds).toHaveLength(1);
  return functionsWith(statements, ({ resource }) =>
    JSON.stringify(resource).includes(keyIds[0] ?? "no key"),
  );
}

it.each([
  {
    rule: "login credentials are for functions that create, check or replace them",
    family: "CREDENTIALS",
    may: {
      GetItem: [
        "ChangePassword",
        "ConfirmTotp",
        "CreateSession",
        "DeleteTotp",
        "Login",
        "Reauthenticate",
        "StartTotp",
        "VerifyEmail",
      ],
      Query: ["ExpireAccounts"],
      PutItem: ["AcceptInvitation", "ChangePassword", "Register", "ResetPassword", "StartTotp"],
      UpdateItem: ["ChangePassword", "ConfirmTotp", "CreateSession", "DeleteTotp", "Login", "Reauthenticate"],
      DeleteItem: ["DeleteMember", "DeleteTotp", "ExpireAccounts", "ResetPassword"],
    },
  },
  {
    rule: "only log-ins create sessions, and only a new password changes one",
    family: "SESSIONS",
    may: {
      PutItem: ["CreateSession", "Login", "Register"],
      UpdateItem: ["ChangePassword"],
      DeleteItem: ["CreateSession", "DeleteSession", "ExpireAccounts", "Logout"],
    },
  },
  {
    rule: "only functions that create, change or remove members write roles",
    family: "MEMBERS",
    may: {
      PutItem: ["AcceptInvitation", "InviteMember", "Register", "ResetPassword"],
      UpdateItem: ["UpdateMember"],
      DeleteItem: ["AcceptInvitation", "DeleteMember", "ExpireAccounts", "ResetPassword"],
    },
  },
  {
    // The approval of KYC is in the rights, which its submission may not write.
    rule: "only registration, verification and changes of members write ownership and verification",
    family: "RIGHTS",
    may: {
      PutItem: ["Register", "ResetPassword"],
      UpdateItem: ["AcceptInvitation", "DeleteMember", "ResetPassword", "UpdateMember", "VerifyEmail"],
      DeleteItem: ["ExpireAccounts"],
    },
  },
  {
    rule: "only a KYC submission writes its data, and no function decides on it",
    family: "KYC",
    may: { PutItem: ["SubmitKyc"], UpdateItem: [], DeleteItem: ["ExpireAccounts"] },
  },
  {
    rule: "the secrets of webhooks are for functions that create, replace or use them",
    family: "WEBHOOK_SECRETS",
    may: {
      GetItem: ["DispatchWebhook", "RotateCallbackSecret", "RotateWebhookSecret"],
      Query: [],
      PutItem: ["CreateWebhook"],
      UpdateItem: ["RotateCallbackSecret", "RotateWebhookSecret"],
      DeleteItem: ["DeleteWebhook", "ExpireAccounts"],
    },
  },
  {
    rule: "only the operator changes a carrier or a route",
    family: "CARRIERS",
    may: { PutItem: [], UpdateItem: [], DeleteItem: [] },
  },
])("$rule", ({ family, may }) => {
  for (const [action, functions] of Object.entries(may)) {
    expect(functionsThatMay(action, family), action).toEqual(functions);
  }
});

it.each([
  [
    "SecondFactorKey",
    ["ChangePassword", "ConfirmTotp", "CreateSession", "DeleteTotp", "Login", "Reauthenticate", "StartTotp"],
  ],
  [
    "WebhookKey",
    [
      "CallHook",
      "CreateHook",
      "CreateWebhook",
      "DispatchWebhook",
      "RotateCallbackSecret",
      "RotateWebhookSecret",
    ],
  ],
  [
    "VerificationKey",
    ["CallHook", "CheckVerification", "ResendVerification", "SendMessage", "StartVerification"],
  ],
])("%s is for functions that seal or open secrets", (name, functions) => {
  expect(functionsWithKey(name)).toEqual(functions);
});

it("allows only to read the audit log and to append audited events", () => {
  const ofLog = statements.filter(({ families }) => families.includes("AUDIT#*"));
  expect(new Set(ofLog.flatMap(({ actions }) => actions))).toEqual(
    new Set(["dynamodb:PutItem", "dynamodb:Query"]),
  );
  expect(tableAccess(statements, "ListAuditLog")).toContain("Query AUDIT#*");
  for (const [operation, { audited }] of Object.entries<Route>(routes)) {
    const adds =
      audited !== undefined ||
      ["acceptInvitation", "createSession", "login", "register", "resetPassword", "verifyEmail"].includes(
        operation,
      );
    const access = tableAccess(statements, pascalCase(operation));
    expect(access.includes("PutItem AUDIT#*"), operation).toBe(adds);
  }
  for (const name of Object.keys(workers)) {
    const access = tableAccess(statements, pascalCase(name));
    // One function seals the logs, and another writes the entries of operators.
    const allowed = {
      sealAuditLogs: "Query AUDIT#*",
      writeAuditEntries: ["PutItem AUDIT#*", "Query AUDIT#*"],
    };
    expect(access.filter((each) => each.includes("AUDIT#"))).toEqual([Object(allowed)[name] ?? []].flat());
  }
  const ofSeals = statements.filter(({ families }) => families.includes("SEALS#*"));
  expect(new Set(ofSeals.map(({ name }) => name))).toEqual(new Set(["SealAuditLogs"]));
  expect(ofSeals.flatMap(({ actions }) => actions).toSorted()).toEqual([
    "dynamodb:PutItem",
    "dynamodb:Query",
  ]);
});

it("lets no function pause sending or payments, or suspend an organization's wallet", () => {
  const onPauses = statements.filter(({ condition }) => JSON.stringify(condition)?.includes("SENDING#"));
  expect(new Set(onPauses.flatMap(({ actions }) => actions))).toEqual(new Set(["dynamodb:GetItem"]));
});

it("gives functions with outside connections no access to wallets", () => {
  // A STOP that the carrier notified is kept, on the contact too.
  expect(tableAccess(statements, "SendMessage")).toEqual([
    "DeleteItem OPT_OUTS#*",
    "DeleteItem beside CONTACTS#*",
    "GetItem CONTACTS#*",
    "GetItem LEDGER#*",
    "GetItem MESSAGES#*",
    "GetItem NUMBERS#*",
    "GetItem OPT_OUTS#*",
    "GetItem ORG#*",
    "GetItem PRICES#*",
    "GetItem SENDER#*",
    "GetItem SENDING#*",
    "PutItem CONVERSATIONS#*",
    "PutItem DUE#*",
    "PutItem beside MESSAGES#*",
    "Query BREAKERS#*",
    "Query CARRIERS#*",
    "Query NUMBERS#*",
    "Query PRICES#*",
    "UpdateItem ARRIVALS#*",
    "UpdateItem BREAKERS#*",
    "UpdateItem CONTACTS#*",
    "UpdateItem GUARD#*",
    "UpdateItem MESSAGES#*",
    "UpdateItem OPT_OUTS#*",
    "UpdateItem PACE#*",
    "UpdateItem SANDBOX#*",
    "UpdateItem STATS#*",
    "UpdateItem beside DUE#*",
  ]);
  expect(tableAccess(statements, "DispatchWebhook")).toEqual([
    "DeleteItem DELIVERIES#*",
    "GetItem DELIVERIES#*",
    "GetItem INBOUND#*",
    "GetItem INFLIGHT#*",
    "GetItem MESSAGES#*",
    "GetItem ORG#*",
    "GetItem VERIFICATIONS#*",
    "GetItem WEBHOOK_SECRETS#*",
    "PutItem DELIVERIES#*",
    "PutItem DUE#*",
    "Query ORG#*",
    "UpdateItem DELIVERIES#*",
    "UpdateItem INFLIGHT#*",
    "UpdateItem ORG#*",
  ]);
});

it("lets a send debit and record, and no more", () => {
  expect(tableAccess(statements, "SendSms")).toEqual([
    "BatchGetItem KEY#*",
    "BatchGetItem ORG#*",
    "BatchGetItem SESSIONS#*",
    "BatchGetItem SESSION_USES#*",
    "DeleteItem IDEMPOTENCY#*",
    "DeleteItem MESSAGES#*",
    "GetItem IDEMPOTENCY#*",
    "GetItem KEY#*",
    "GetItem LEDGER#*",
    "GetItem MEMBERS#*",
    "GetItem NUMBERS#*",
    "GetItem OPT_OUTS#*",
    "GetItem ORG#*",
    "GetItem PRICES#*",
    "GetItem RIGHTS#*",
    "GetItem SENDER#*",
    "GetItem USER#*",
    "GetItem WALLET#*",
    "PutItem CONVERSATIONS#*",
    "PutItem DUE#*",
    "PutItem HELD#*",
    "PutItem IDEMPOTENCY#*",
    "PutItem LEDGER#*",
    "PutItem MESSAGES#*",
    "PutItem beside WALLET#*",
    "Query CARRIERS#*",
    "Query NUMBERS#*",
    "Query PRICES#*",
    "UpdateItem IDEMPOTENCY#*",
    "UpdateItem KEY_USES#*",
    "UpdateItem LIMIT#*",
    "UpdateItem SESSION_USES#*",
    "UpdateItem STATS#*",
    "UpdateItem WALLET#*",
    "UpdateItem beside DUE#*",
    "UpdateItem beside HELD#*",
    "UpdateItem beside LEDGER#*",
    "UpdateItem beside MESSAGES#*",
  ]);
});
