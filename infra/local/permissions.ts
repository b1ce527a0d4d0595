import type { Condition, Statement } from "./template.ts";

// Checks each request of each function, so it uses no schemas.

/** A permission that a request to AWS needs. */
interface RequiredPermission {
  readonly action: string;
  readonly resourceName: string;
  /** The partition keys of the items; none for a request that is not on items. */
  readonly leadingKeys: readonly string[];
  /** The attributes that a request reads; absent for all of them. */
  readonly attributes?: readonly string[] | undefined;
  /** The sender of an email. */
  readonly fromAddress?: string;
}

/**
 * Finds a permission that a request needs and its function's role lacks. It knows the rules of IAM that our roles use, so
 * that a missing permission fails on the laptop already.
 * @param operation for example `dynamodb:UpdateItem`
 * @returns the first missing permission, as a text, or undefined
 */
export function deniedPermission(
  statements: readonly Statement[],
  operation: string,
  body: unknown,
): string | undefined {
  const required = permissionsFor(operation, body);
  if (required.length === 0) return operation;
  // The keys of a single permission are pooled with no others.
  const all = required.length === 1 ? required : [...required, ...pooledPermissions(required)];
  const denied = all.find((permission) => !statements.some((statement) => allows(statement, permission)));
  if (denied === undefined) return undefined;
  const { action, resourceName, leadingKeys } = denied;
  const families = [...new Set(leadingKeys.map((key) => `${familyOf(key)}#*`))];
  if (families.length === 0) return `${action} on ${resourceName}`;
  return `${action} on ${families.join(" and ")}${families.length > 1 ? " in one transaction" : ""}`;
}

/**
 * Returns the permissions that a request on the table or a queue needs, in the form of `infra/stack/permissions.txt`. For another
 * request it returns none.
 */
export function kindsOfAccess(operation: string, body: unknown): string[] {
  const required = permissionsFor(operation, body);
  // The table has one index.
  if (valueAt(body, "IndexName") !== undefined) return ["indexes: pendingWork"];
  return required.flatMap(({ action, resourceName, leadingKeys }, index) => {
    const [service, kind = ""] = action.split(":");
    if (service === "sqs") return [`queues: ${queueNamed(resourceName)}`];
    if (service !== "dynamodb" || leadingKeys.length === 0) return [];
    const others = keysOf(required.filter((_, other) => other !== index));
    return [
      ...leadingKeys.map((key) => `${kind}: ${familyOf(key)}`),
      ...others.map((key) => `${kind} beside: ${familyOf(key)}`),
    ];
  });
}

/** The name of a queue from its id in the template: `EmailsQueue0A1B2C3D` is `emails`. */
function queueNamed(id: string): string {
  return id.replace(/Queue[0-9A-F]{8}$/, "").replace(/^./, (letter) => letter.toLowerCase());
}

function familyOf(key: string): string {
  return key.replace(/#.*/, "");
}

/**
 * Returns the writes of a transaction with more than their own keys. AWS does not document whether it pools the keys of
 * the same action or of all writes, so a role must allow both.
 */
function pooledPermissions(required: readonly RequiredPermission[]): RequiredPermission[] {
  const kinds = new Map(
    required.map((permission) => [`${permission.action} ${permission.resourceName}`, permission]),
  );
  return [...kinds.values()].flatMap((kind) => [
    { ...kind, leadingKeys: keysOf(required.filter(({ action }) => action === kind.action)) },
    { ...kind, leadingKeys: keysOf(required) },
  ]);
}

function keysOf(required: readonly RequiredPermission[]): string[] {
  return required.flatMap(({ leadingKeys }) => leadingKeys);
}

function allows({ Action, Resource, Condition }: Statement, permission: RequiredPermission): boolean {
  if (!Action.includes(permission.action)) return false;
  if (!Resource.some((arn) => isOn(arn, permission))) return false;
  return Condition === undefined || isMet(Condition, permission);
}

/** The end of an ARN. Each request is compared with the ARNs of its function's role, so each ARN is parsed only once. */
interface ArnEnd {
  /** The name of the resource. With a wildcard, the beginning of the names of several. */
  readonly name: string;
  readonly isWildcard: boolean;
  readonly isConfigurationSet: boolean;
}

const arnEnds = new Map<string, ArnEnd>();

function arnEndOf(arn: string): ArnEnd {
  const known = arnEnds.get(arn);
  if (known !== undefined) return known;
  const beginning = /:(?:secret|:):(.+)\*$/.exec(arn)?.[1];
  const end = {
    name: beginning ?? arn.split(/[:/]/).at(-1) ?? "",
    isWildcard: beginning !== undefined,
    isConfigurationSet: arn.includes(":configuration-set/"),
  };
  arnEnds.set(arn, end);
  return end;
}

/**
 * Whether an ARN covers the resource of a permission. The ARN of a secret or an object may end with a wildcard, which matches
 * slashes too. An identity of SES is an email address, a domain or a parent domain.
 */
function isOn(arn: string, { resourceName, fromAddress }: RequiredPermission): boolean {
  const { name, isWildcard, isConfigurationSet } = arnEndOf(arn);
  if (isWildcard) return resourceName.startsWith(name);
  if (resourceName.startsWith("configuration-set/")) return arn.endsWith(`:${resourceName}`);
  if (isConfigurationSet) return false;
  return name === resourceName || fromAddress === name || (fromAddress?.endsWith(`.${name}`) ?? false);
}

function isMet(condition: Condition, { leadingKeys, attributes, fromAddress }: RequiredPermission): boolean {
  const { StringEquals } = condition;
  if (StringEquals !== undefined && "ses:FromAddress" in StringEquals) {
    return StringEquals["ses:FromAddress"] === fromAddress;
  }
  const all = condition["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"];
  if (all !== undefined && !leadingKeys.every((key) => isLike(key, all))) return false;
  const none = condition["ForAllValues:StringNotLike"]?.["dynamodb:LeadingKeys"] ?? [];
  if (leadingKeys.some((key) => isLike(key, none))) return false;
  const readable = condition["ForAllValues:StringEquals"]?.["dynamodb:Attributes"];
  if (readable !== undefined && attributes?.every((each) => readable.includes(each)) !== true) return false;
  const any = condition["ForAnyValue:StringLike"]?.["dynamodb:LeadingKeys"];
  if (any !== undefined && !leadingKeys.some((key) => isLike(key, any))) return false;
  return condition.Null === undefined || leadingKeys.length > 0;
}

function isLike(key: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => key.startsWith(pattern.endsWith("*") ? pattern.slice(0, -1) : pattern));
}

function permissionsFor(operation: string, body: unknown): RequiredPermission[] {
  switch (operation) {
    case "dynamodb:GetItem":
      return [{ ...permissionOnItem(operation, body), attributes: attributesOf(body) }];
    case "dynamodb:DeleteItem":
    case "dynamodb:PutItem":
    case "dynamodb:UpdateItem":
      return [permissionOnItem(operation, body)];
    case "dynamodb:Query": {
      // Our own queries all begin with the partition key.
      if (!/^\w+ = :pk AND /.test(textAt(body, "KeyConditionExpression"))) return [];
      const leadingKeys = [textAt(body, "ExpressionAttributeValues", ":pk", "S")];
      const attributes = attributesOf(body);
      return [{ action: operation, resourceName: indexOrTable(body), leadingKeys, attributes }];
    }
    case "dynamodb:BatchGetItem":
      return Object.entries(valueAt(body, "RequestItems") ?? {}).map(([resourceName, request]) => ({
        action: operation,
        resourceName,
        leadingKeys: listAt(request, "Keys").map((key) => textAt(key, "pk", "S")),
        attributes: attributesOf(request),
      }));
    case "dynamodb:Scan":
      return [permissionWithoutItem(operation, indexOrTable(body))];
    case "dynamodb:TransactWriteItems":
      return listAt(body, "TransactItems").flatMap((item) => Object.entries(item).map(permissionForWrite));
    case "sqs:ChangeMessageVisibilityBatch":
    case "sqs:DeleteMessageBatch":
    case "sqs:GetQueueAttributes":
    case "sqs:ReceiveMessage":
    case "sqs:SendMessage":
    case "sqs:SendMessageBatch":
      return [
        permissionWithoutItem(operation.replace(/Batch$/, ""), textAt(body, "QueueUrl").split("/").at(-1)),
      ];
    case "secretsmanager:CreateSecret":
      return [permissionWithoutItem(operation, textAt(body, "Name"))];
    case "secretsmanager:DeleteSecret":
    case "secretsmanager:PutSecretValue":
    case "secretsmanager:GetSecretValue":
      return [permissionWithoutItem(operation, textAt(body, "SecretId").split(":").at(-1))];
    case "kms:GetPublicKey":
    case "kms:Sign":
      return [permissionWithoutItem(operation, textAt(body, "KeyId").split("/").at(-1))];
    case "s3:GetObject":
    case "s3:PutObject":
      return [permissionWithoutItem(operation, `${textAt(body, "Bucket")}/${textAt(body, "Key")}`)];
    case "s3:ListBucket":
      return [permissionWithoutItem(operation, textAt(body, "Bucket"))];
    case "ses:SendEmail": {
      // The address follows the name.
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

/** Returns the attributes that a read names; undefined if it reads all of them. */
function attributesOf(body: unknown): string[] | undefined {
  const projection = valueAt(body, "ProjectionExpression");
  if (typeof projection !== "string") return undefined;
  const names = Object.values(Object(valueAt(body, "ExpressionAttributeNames"))).map(String);
  return [...projection.split(/[\s,]+/).filter((each) => !each.startsWith("#")), ...names];
}

function permissionForWrite([kind, write]: readonly [string, unknown]): RequiredPermission {
  const action = {
    ConditionCheck: "ConditionCheckItem",
    Delete: "DeleteItem",
    Put: "PutItem",
    Update: "UpdateItem",
  }[kind];
  if (action === undefined) throw new Error(`the local gateway does not support ${kind} in a transaction`);
  return permissionOnItem(`dynamodb:${action}`, write);
}

function permissionOnItem(action: string, body: unknown): RequiredPermission {
  const place = action === "dynamodb:PutItem" ? "Item" : "Key";
  return { action, resourceName: textAt(body, "TableName"), leadingKeys: [textAt(body, place, "pk", "S")] };
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
