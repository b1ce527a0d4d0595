import * as z from "zod";

import type { Statement } from "./template.ts";

/** One thing that a request to AWS asks to do. */
interface Ask {
  readonly action: string;
  readonly resourceName: string;
  /** The partition key, of an action on items. */
  readonly leadingKey?: string;
}

const Key = z.object({ pk: z.object({ S: z.string() }) });
const OnItem = z.object({ TableName: z.string(), Key });
const WithItem = z.object({ TableName: z.string(), Item: Key });
const Query = z.object({
  TableName: z.string(),
  IndexName: z.string().optional(),
  KeyConditionExpression: z.string().regex(/^\w+ = :pk AND /),
  ExpressionAttributeValues: z.object({ ":pk": z.object({ S: z.string() }) }),
});
const Transaction = z.object({
  TransactItems: z.array(
    z.strictObject({ Put: WithItem, Update: OnItem, Delete: OnItem, ConditionCheck: OnItem }).partial(),
  ),
});
const OnQueue = z.object({ QueueUrl: z.string() });
const OnSecret = z.object({ SecretId: z.string() });

/**
 * What a role does not allow of a request: IAM's rules, as far as our roles use them. A function that lacks a
 * permission fails on the laptop already, and not first in AWS.
 * @param operation for example `dynamodb:UpdateItem`
 * @returns the first thing that is not allowed, in words, or undefined when all of it is
 */
export function deniedAsk(
  statements: readonly Statement[],
  operation: string,
  body: unknown,
): string | undefined {
  const asks = asksOf(operation, body);
  if (asks.length === 0) return operation;
  const denied = asks.find((ask) => !statements.some((statement) => allows(statement, ask)));
  if (denied === undefined) return undefined;
  const { action, resourceName, leadingKey } = denied;
  return `${action} on ${leadingKey === undefined ? resourceName : leadingKey.replace(/#.*/, "#*")}`;
}

function allows(statement: Statement, ask: Ask): boolean {
  const { Action, Resource, Condition } = statement;
  if (!Action.includes(ask.action)) return false;
  if (!Resource.some((arn) => arn.split(/[:/]/).at(-1) === ask.resourceName)) return false;
  if (Condition === undefined) return true;
  const patterns = Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
  return patterns.some((pattern) => ask.leadingKey?.startsWith(pattern.replace(/\*$/, "")) === true);
}

function asksOf(operation: string, body: unknown): Ask[] {
  switch (operation) {
    case "dynamodb:GetItem":
    case "dynamodb:UpdateItem":
    case "dynamodb:DeleteItem":
      return [askOnItem(operation, OnItem.parse(body))];
    case "dynamodb:PutItem":
      return [askWithItem(WithItem.parse(body))];
    case "dynamodb:Query": {
      const { TableName, IndexName, ExpressionAttributeValues } = Query.parse(body);
      const leadingKey = ExpressionAttributeValues[":pk"].S;
      return [{ action: operation, resourceName: IndexName ?? TableName, leadingKey }];
    }
    case "dynamodb:TransactWriteItems":
      return Transaction.parse(body).TransactItems.flatMap(({ Put, Update, Delete, ConditionCheck }) => [
        ...(Put === undefined ? [] : [askWithItem(Put)]),
        ...(Update === undefined ? [] : [askOnItem("dynamodb:UpdateItem", Update)]),
        ...(Delete === undefined ? [] : [askOnItem("dynamodb:DeleteItem", Delete)]),
        ...(ConditionCheck === undefined ? [] : [askOnItem("dynamodb:ConditionCheckItem", ConditionCheck)]),
      ]);
    case "sqs:SendMessage":
    case "sqs:SendMessageBatch":
      return [
        { action: "sqs:SendMessage", resourceName: OnQueue.parse(body).QueueUrl.split("/").at(-1) ?? "" },
      ];
    case "secretsmanager:GetSecretValue":
      return [{ action: operation, resourceName: OnSecret.parse(body).SecretId.split(":").at(-1) ?? "" }];
    default:
      return [];
  }
}

function askOnItem(action: string, { TableName, Key: { pk } }: z.infer<typeof OnItem>): Ask {
  return { action, resourceName: TableName, leadingKey: pk.S };
}

function askWithItem({ TableName, Item: { pk } }: z.infer<typeof WithItem>): Ask {
  return { action: "dynamodb:PutItem", resourceName: TableName, leadingKey: pk.S };
}
