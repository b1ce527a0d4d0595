import { readFile } from "node:fs/promises";

import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { deniedPermission } from "../../infra/local/permissions.ts";
import { Condition, type Statement } from "../../infra/local/template.ts";
import { commands } from "../../infra/operator/command-line.ts";
import {
  hiddenFields,
  readableAttributes,
  roles,
  rolesOf,
  type Role,
} from "../../infra/stack/operator-roles.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { SenderIdRecord } from "../../shared/messages/sender-ids/record.ts";
import { storedNameOf } from "../../shared/platform/table/stored-names.ts";
import { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { fullStage } from "../support/full-stage.ts";
import { synthesized } from "../support/synthesized.ts";

const OneOrMany = z.pipe(
  z.union([z.unknown(), z.array(z.unknown())]),
  z.transform((value) => [value].flat()),
);
const Policy = z.object({
  Properties: z.object({
    ManagedPolicyName: z.string(),
    PolicyDocument: z.object({
      Statement: z.array(
        z.object({ Action: OneOrMany, Resource: OneOrMany, Condition: z.optional(z.unknown()) }),
      ),
    }),
  }),
});

function policies(stage = stageNamed("prod")) {
  const found = synthesized(stage).template.findResources("AWS::IAM::ManagedPolicy");
  return Object.values(found).map((each) => Policy.parse(each).Properties);
}

function policyOf(role: Role): ReturnType<typeof policies>[number] {
  const found = policies().find(({ ManagedPolicyName }) => ManagedPolicyName.endsWith(`-${role}`));
  if (found === undefined) throw new Error(`there is no policy for ${role}`);
  return found;
}

/** Returns the statements on items, as the local gateway checks them, for a table with the name `table`. */
function onItems(role: Role): Statement[] {
  return (
    // The index has only keys.
    policyOf(role)
      .PolicyDocument.Statement.filter(({ Resource }) => !JSON.stringify(Resource).includes("/index/"))
      .map(({ Action, Condition: condition }) => ({ Action: Action.map(String), condition }))
      .filter(({ Action }) => Action.every((action) => action.startsWith("dynamodb:")))
      .map(({ Action, condition }) => ({
        Effect: "Allow" as const,
        Action,
        Resource: ["table"],
        Condition: condition === undefined ? undefined : Condition.parse(condition),
      }))
  );
}

const item = (pk: string): object => ({ TableName: "table", Key: { pk: { S: pk } } });

it("has a policy for each role, whose name begins with the stage's stack", () => {
  const names = policies().map(({ ManagedPolicyName }) => ManagedPolicyName);
  expect(names).toEqual(roles.map((role) => `sms-gateway-prod-${role}`));
});

it("lets people read each field of messages and organizations except the hidden ones, and has no other names", () => {
  const ofKeys = ["createdBy", "hint", "userId", "ancestorIds"];
  const fields = [MessageRecord, OrganizationRecord, SenderIdRecord].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  const all = new Set(["pk", "sk", ...ofKeys, ...fields.map(storedNameOf)]);
  const hidden = new Set<string>(hiddenFields);
  expect(new Set(readableAttributes)).toEqual(all.difference(hidden));
});

it("keeps each policy below IAM's 6,144 characters", () => {
  for (const stage of [stageNamed("prod"), fullStage]) {
    for (const { PolicyDocument } of policies(stage)) {
      expect(JSON.stringify(PolicyDocument).length).toBeLessThan(6_000);
    }
  }
});

it("lets no role read or change more than a condition on keys allows, except that the operator reads all", () => {
  for (const role of roles) {
    const statements = onItems(role);
    expect(statements.filter(({ Condition: each }) => each === undefined)).toHaveLength(
      role === "operator" ? 1 : 0,
    );
    expect(deniedPermission(statements, "dynamodb:Scan", { TableName: "table" })).toBeDefined();
  }
});

describe.each(roles)("the role %s", (role) => {
  const statements = onItems(role);
  const denied = (operation: string, body: object): string | undefined =>
    deniedPermission(statements, `dynamodb:${operation}`, body);

  it("writes neither the audit log nor its seals", () => {
    const put = (pk: string): object => ({ TableName: "table", Item: { pk: { S: pk } } });
    for (const pk of ["AUDIT#stage", "SEALS#stage"]) {
      for (const operation of ["UpdateItem", "DeleteItem"]) expect(denied(operation, item(pk))).toBeDefined();
      expect(denied("PutItem", put(pk))).toBeDefined();
      const TransactItems = [{ Put: put("ORG#1") }, { Put: put(pk) }];
      expect(denied("TransactWriteItems", { TransactItems })).toBeDefined();
    }
  });

  it("sends entries of the audit log, and can neither read nor delete what others have sent", () => {
    const { PolicyDocument } = policyOf(role);
    const actionsOn = (queue: string): string[] =>
      PolicyDocument.Statement.filter(({ Resource }) => JSON.stringify(Resource).includes(queue)).flatMap(
        ({ Action }) => Action.map(String),
      );
    expect(actionsOn("AuditEntriesQueue")).toEqual(["sqs:SendMessage"]);
    expect(actionsOn("AuditEntriesDeadLetters")).toEqual(
      role === "operator" ? ["sqs:GetQueueAttributes"] : [],
    );
    // A statement on all queues would include it.
    expect(actionsOn('"*"')).toEqual([]);
  });

  it("reads messages and API keys with named attributes only, unless it is the operator", () => {
    const isDenied = (projection: object): boolean =>
      denied("Query", { ...query, ...projection }) !== undefined;
    const query = {
      TableName: "table",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":pk": { S: "ORG#1" } },
    };
    const isOperator = role === "operator";
    expect(isDenied({})).toBe(!isOperator);
    for (const hidden of hiddenFields) {
      expect(isDenied({ ProjectionExpression: `pk, ${hidden}` })).toBe(!isOperator);
      const ExpressionAttributeNames = { "#a": hidden };
      expect(isDenied({ ProjectionExpression: "pk, #a", ExpressionAttributeNames })).toBe(!isOperator);
    }
    expect(isDenied({ ProjectionExpression: readableAttributes.join(", ") })).toBe(false);
  });

  it("reads no credentials, texts of inbound messages, or secrets, unless it is the operator", () => {
    const families = [
      "CREDENTIALS",
      "KEY",
      "SESSIONS",
      "INBOUND",
      "CONVERSATIONS",
      "HELD",
      "WEBHOOK_SECRETS",
    ];
    for (const family of families) {
      expect(denied("GetItem", item(`${family}#1`)) !== undefined).toBe(role !== "operator");
    }
  });
});

it.each(roles.filter((role) => role !== "operator"))(
  "the page names the commands of the role %s",
  async (role) => {
    const page = await readFile("infra/operator/README.md", "utf8");
    const row = page.split("\n").find((line) => line.startsWith(`| \`${role}\` `)) ?? "";
    const named = row.split(/[;.] /).flatMap((group) => {
      const [first = "", ...verbs] = [...group.matchAll(/`([^`]+)`/g)]
        .map(([, code = ""]) => code)
        .filter((code) => code !== role);
      return [first, ...verbs.map((verb) => `${first.split(" ")[0]} ${verb}`)];
    });
    const allowed = commands.map(({ name }) => name).filter((name) => rolesOf(name).includes(role));
    expect(named.toSorted()).toEqual(allowed.toSorted());
  },
);
