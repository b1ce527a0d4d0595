import type { OnLeadingKeys, Statement } from "./template.ts";

// Each thread of a function loads this, and judges each of its requests with it: hence no schemas.

/** One thing that a request to AWS asks to do. */
interface RequiredPermission {
  readonly action: string;
  readonly resourceName: string;
  /** The partition keys that it is judged by; none where it is not on items. */
  readonly leadingKeys: readonly string[];
  /** Whom an email would come from. */
  readonly fromAddress?: string;
}

/**
 * What a role does not allow of a request: IAM's rules, as far as our roles use them. A function that lacks a
 * permission fails on the laptop already, and not first in AWS.
 * @param operation for example `dynamodb:UpdateItem`
 * @returns the first thing that is not allowed, in words, or undefined when all of it is
 */
export function deniedPermission(
  statements: readonly Statement[],
  operation: string,
  body: unknown,
): string | undefined {
  const asks = permissionsFor(operation, body);
  if (asks.length === 0) return operation;
  const denied = [...asks, ...pooledPermissions(asks)].find(
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
function pooledPermissions(asks: readonly RequiredPermission[]): RequiredPermission[] {
  const kinds = new Map(asks.map((ask) => [`${ask.action} ${ask.resourceName}`, ask]));
  return [...kinds.values()].flatMap((kind) => [
    { ...kind, leadingKeys: keysOf(asks.filter(({ action }) => action === kind.action)) },
    { ...kind, leadingKeys: keysOf(asks) },
  ]);
}

function keysOf(asks: readonly RequiredPermission[]): string[] {
  return asks.flatMap(({ leadingKeys }) => leadingKeys);
}

function allows({ Action, Resource, Condition }: Statement, ask: RequiredPermission): boolean {
  if (!Action.includes(ask.action)) return false;
  if (!Resource.some((arn) => isOn(arn, ask))) return false;
  if (Condition === undefined) return true;
  return "StringEquals" in Condition
    ? Condition.StringEquals["ses:FromAddress"] === ask.fromAddress
    : isMet(Condition, ask.leadingKeys);
}

/**
 * Whether an ARN means what is asked for. That of a secret may mean all whose names begin alike, slashes among them. An
 * email is from an address that is an identity itself, or in a domain that is one or has one above it.
 */
function isOn(arn: string, { resourceName, fromAddress }: RequiredPermission): boolean {
  const beginning = /:secret:(.+)\*$/.exec(arn)?.[1];
  if (beginning !== undefined) return resourceName.startsWith(beginning);
  if (resourceName.startsWith("configuration-set/")) return arn.endsWith(`:${resourceName}`);
  const name = arn.split(/[:/]/).at(-1) ?? "";
  if (arn.includes(":configuration-set/")) return false;
  return name === resourceName || fromAddress === name || (fromAddress?.endsWith(`.${name}`) ?? false);
}

function isMet(condition: OnLeadingKeys, leadingKeys: readonly string[]): boolean {
  const all = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
  if (!leadingKeys.every((key) => isLike(key, all))) return false;
  const any = condition["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"];
  if (any !== undefined && !leadingKeys.some((key) => isLike(key, any))) return false;
  return condition.Null === undefined || leadingKeys.length > 0;
}

function isLike(key: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => key.startsWith(pattern.replace(/\*$/, "")));
}

function permissionsFor(operation: string, body: unknown): RequiredPermission[] {
  switch (operation) {
    case "dynamodb:GetItem":
    case "dynamodb:UpdateItem":
    case "dynamodb:DeleteItem":
      return [permissionOnItem(operation, body)];
    case "dynamodb:PutItem":
      return [permissionForPut(body)];
    case "dynamodb:Query": {
      // The partition key is read from where our own queries have it.
      if (!/^\w+ = :pk AND /.test(textAt(body, "KeyConditionExpression"))) return [];
      const leadingKeys = [textAt(body, "ExpressionAttributeValues", ":pk", "S")];
      return [{ action: operation, resourceName: indexOrTable(body), leadingKeys }];
    }
    case "dynamodb:BatchGetItem":
      return Object.entries(valueAt(body, "RequestItems") ?? {}).map(([resourceName, request]) => ({
        action: operation,
        resourceName,
        leadingKeys: listAt(request, "Keys").map((key) => textAt(key, "pk", "S")),
      }));
    case "dynamodb:Scan":
      return [permissionWithoutItem(operation, indexOrTable(body))];
    case "dynamodb:TransactWriteItems":
      return listAt(body, "TransactItems").flatMap((item) => Object.entries(item).map(permissionForWrite));
    case "sqs:SendMessage":
    case "sqs:SendMessageBatch":
      return [permissionWithoutItem("sqs:SendMessage", textAt(body, "QueueUrl").split("/").at(-1))];
    case "secretsmanager:GetSecretValue":
      return [permissionWithoutItem(operation, textAt(body, "SecretId").split(":").at(-1))];
    case "kms:GetPublicKey":
    case "kms:Sign":
      return [permissionWithoutItem(operation, textAt(body, "KeyId").split("/").at(-1))];
    case "ses:SendEmail": {
      // The address stands behind the name.
      const fromAddress = textAt(body, "FromEmailAddress").replace(/^.*<|>$/g, "");
      const configurationSet = valueAt(body, "ConfigurationSetName");
      return [
        fromAddress.split("@").at(-1),
        ...(typeof configurationSet === "string" ? [`configuration-set/${configurationSet}`] : []),
      ].map((name) => ({ ...permissionWithoutItem(operation, name), fromAddress }));
    }
    default:
      return [];
  }
}

function permissionForWrite([kind, write]: readonly [string, unknown]): RequiredPermission {
  switch (kind) {
    case "Put":
      return permissionForPut(write);
    case "Update":
    case "Delete":
      return permissionOnItem(`dynamodb:${kind}Item`, write);
    case "ConditionCheck":
      return permissionOnItem("dynamodb:ConditionCheckItem", write);
    default:
      throw new Error(`the local gateway does not know ${kind} in a transaction`);
  }
}

function permissionOnItem(action: string, body: unknown): RequiredPermission {
  return { action, resourceName: textAt(body, "TableName"), leadingKeys: [textAt(body, "Key", "pk", "S")] };
}

function permissionForPut(body: unknown): RequiredPermission {
  const leadingKeys = [textAt(body, "Item", "pk", "S")];
  return { action: "dynamodb:PutItem", resourceName: textAt(body, "TableName"), leadingKeys };
}

function permissionWithoutItem(action: string, resourceName = ""): RequiredPermission {
  return { action, resourceName, leadingKeys: [] };
}

function indexOrTable(body: unknown): string {
  return valueAt(body, "IndexName") === undefined ? textAt(body, "TableName") : textAt(body, "IndexName");
}

function textAt(body: unknown, ...names: string[]): string {
  const text = valueAt(body, ...names);
  if (typeof text !== "string") throw new Error(`a request to AWS has no ${names.join(".")}`);
  return text;
}

function listAt(body: unknown, name: string): object[] {
  const list = valueAt(body, name);
  if (!Array.isArray(list)) throw new Error(`a request to AWS has no ${name}`);
  return list;
}

function valueAt(body: unknown, ...names: string[]): unknown {
  let value = body;
  for (const name of names) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
