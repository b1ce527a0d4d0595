import * as z from "zod";

import type { Statement } from "./template.ts";

/** One thing that a request to AWS asks to do. */
interface Ask {
  readonly action: string;
  readonly resourceName: string;
  /** The partition keys that it is judged by; none where it is not on items. */
  readonly leadingKeys: readonly string[];
}

const Key = z.object({ pk: z.object({ S: z.string() }) });
const OnItem = z.object({ TableName: z.string(), Key });
const WithItem = z.object({ TableName: z.string(), Item: Key });
const Scan = z.object({ TableName: z.string(), IndexName: z.string().optional() });
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
const OnKey = z.object({ KeyId: z.string() });

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
  const denied = [...asks, ...pooledAsks(asks)].find(
    (ask) => !statements.some((statement) => allows(statement, ask)),
  );
  if (denied === undefined) return undefined;
  const { action, resourceName, leadingKeys } = denied;
  const families = [...new Set(leadingKeys.map((key) => key.replace(/#.*/, "#*")))];
  if (families.length === 0) return `${action} on ${resourceName}`;
  return `${action} on ${families.join(" and ")}${families.length > 1 ? " in one transaction" : ""}`;
}

/**
 * The writes of a transaction, judged by more than their own keys. AWS does not say whether it pools the keys of the
 * same action, or of all writes, so that what we ask for must be allowed either way.
 */
function pooledAsks(asks: readonly Ask[]): Ask[] {
  const kinds = new Map(asks.map((ask) => [`${ask.action} ${ask.resourceName}`, ask]));
  return [...kinds.values()].flatMap((kind) => [
    { ...kind, leadingKeys: keysOf(asks.filter(({ action }) => action === kind.action)) },
    { ...kind, leadingKeys: keysOf(asks) },
  ]);
}

function keysOf(asks: readonly Ask[]): string[] {
  return asks.flatMap(({ leadingKeys }) => leadingKeys);
}

function allows({ Action, Resource, Condition }: Statement, ask: Ask): boolean {
  if (!Action.includes(ask.action)) return false;
  if (!Resource.some((arn) => arn.split(/[:/]/).at(-1) === ask.resourceName)) return false;
  return Condition === undefined || isMet(Condition, ask.leadingKeys);
}

function isMet(condition: NonNullable<Statement["Condition"]>, leadingKeys: readonly string[]): boolean {
  const all = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
  if (!leadingKeys.every((key) => isLike(key, all))) return false;
  const any = condition["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"];
  if (any !== undefined && !leadingKeys.some((key) => isLike(key, any))) return false;
  return condition.Null === undefined || leadingKeys.length > 0;
}

function isLike(key: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => key.startsWith(pattern.replace(/\*$/, "")));
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
      const leadingKeys = [ExpressionAttributeValues[":pk"].S];
      return [{ action: operation, resourceName: IndexName ?? TableName, leadingKeys }];
    }
    case "dynamodb:Scan": {
      const { TableName, IndexName } = Scan.parse(body);
      return [askWithoutItem(operation, IndexName ?? TableName)];
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
      return [askWithoutItem("sqs:SendMessage", OnQueue.parse(body).QueueUrl.split("/").at(-1))];
    case "secretsmanager:GetSecretValue":
      return [askWithoutItem(operation, OnSecret.parse(body).SecretId.split(":").at(-1))];
    case "kms:GetPublicKey":
    case "kms:Sign":
      return [askWithoutItem(operation, OnKey.parse(body).KeyId.split("/").at(-1))];
    default:
      return [];
  }
}

function askOnItem(action: string, { TableName, Key: { pk } }: z.infer<typeof OnItem>): Ask {
  return { action, resourceName: TableName, leadingKeys: [pk.S] };
}

function askWithItem({ TableName, Item: { pk } }: z.infer<typeof WithItem>): Ask {
  return { action: "dynamodb:PutItem", resourceName: TableName, leadingKeys: [pk.S] };
}

function askWithoutItem(action: string, resourceName = ""): Ask {
  return { action, resourceName, leadingKeys: [] };
}
