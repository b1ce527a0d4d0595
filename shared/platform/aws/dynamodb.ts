import type * as sdk from "@aws-sdk/lib-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

import { AwsClient, jsonOf, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";
import type { AwsResponse } from "./errors.ts";

/*
 * The operations of DynamoDB that the table layer needs. Their inputs and outputs have plain values where DynamoDB has attributes
 * that name their types.
 */

/** A path to an item, or to a part of one. `*` stands for every member. */
type Place = readonly string[];

/** A command with the places of items in its input and output. */
abstract class ItemCommand<Input extends object = object, Output extends object = object> extends AwsCommand<
  Input,
  Output
> {
  abstract readonly inputItems: readonly Place[];
  readonly outputItems: readonly Place[] = [];
}

export class GetCommand extends ItemCommand<sdk.GetCommandInput, sdk.GetCommandOutput> {
  readonly operation = "GetItem";
  readonly inputItems = [["Key"]];
  override readonly outputItems = [["Item"]];
}

export class BatchGetCommand extends ItemCommand<sdk.BatchGetCommandInput, sdk.BatchGetCommandOutput> {
  readonly operation = "BatchGetItem";
  readonly inputItems = [["RequestItems", "*", "Keys", "*"]];
  override readonly outputItems = [
    ["Responses", "*", "*"],
    ["UnprocessedKeys", "*", "Keys", "*"],
  ];
}

export class QueryCommand extends ItemCommand<sdk.QueryCommandInput, sdk.QueryCommandOutput> {
  readonly operation = "Query";
  readonly inputItems = [["ExpressionAttributeValues"], ["ExclusiveStartKey"]];
  override readonly outputItems = [["Items", "*"], ["LastEvaluatedKey"]];
}

export class PutCommand extends ItemCommand<sdk.PutCommandInput, sdk.PutCommandOutput> {
  readonly operation = "PutItem";
  readonly inputItems = [["Item"], ["ExpressionAttributeValues"]];
  override readonly outputItems = [["Attributes"]];
}

export class UpdateCommand extends ItemCommand<sdk.UpdateCommandInput, sdk.UpdateCommandOutput> {
  readonly operation = "UpdateItem";
  readonly inputItems = [["Key"], ["ExpressionAttributeValues"]];
  override readonly outputItems = [["Attributes"]];
}

export class DeleteCommand extends ItemCommand<sdk.DeleteCommandInput, sdk.DeleteCommandOutput> {
  readonly operation = "DeleteItem";
  readonly inputItems = [["Key"], ["ExpressionAttributeValues"]];
  override readonly outputItems = [["Attributes"]];
}

export class TransactWriteCommand extends ItemCommand<
  sdk.TransactWriteCommandInput,
  sdk.TransactWriteCommandOutput
> {
  readonly operation = "TransactWriteItems";
  readonly inputItems = [
    ["TransactItems", "*", "*", "Item"],
    ["TransactItems", "*", "*", "Key"],
    ["TransactItems", "*", "*", "ExpressionAttributeValues"],
  ];
}

export class DynamoDb extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "DYNAMODB",
        hostPrefix: "dynamodb",
        signingName: "dynamodb",
        target: "DynamoDB_20120810",
        contentType: "application/x-amz-json-1.0",
      },
      options,
    );
  }

  protected override bodyOf({ input, inputItems }: ItemCommand): string {
    return JSON.stringify(convertedAt(input, inputItems, toAttributes));
  }

  protected override outputOf(command: ItemCommand, answer: AwsResponse): object {
    return convertedAt(super.outputOf(command, answer), command.outputItems, fromAttributes);
  }

  /** Reads binary values as bytes. They are rare, and a look at each value takes longer than all else. */
  protected override parse(body: string): object {
    // Without the quote before `B`, of which a body has thousands, the search is forty times as fast.
    const hasBinary = body.includes('B":') || body.includes('BS":');
    return JSON.parse(body, hasBinary ? withBytes : undefined);
  }
}

/** Without `convertClassInstanceToMap`, only objects of the constructor `Object` are maps. Customers choose attribute names. */
const marshallOptions = {
  removeUndefinedValues: true,
  convertClassInstanceToMap: true,
  convertTopLevelContainer: true,
} as const;

type Convert = (item: Record<string, unknown>) => object;
const toAttributes: Convert = (item) => membersOf(item, toAttribute);
const fromAttributes: Convert = (item) => membersOf(item, fromAttribute);

/** Converts plain values itself, because the SDK takes three times as long. The SDK converts sets and large numbers. */
function toAttribute(value: unknown): unknown {
  if (typeof value === "string") return { S: value };
  if (typeof value === "boolean") return { BOOL: value };
  if (typeof value === "number" && Number.isSafeInteger(value)) return { N: String(value) };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return { L: value.filter((each) => each !== undefined).map(toAttribute) };
  if (isPlain(value)) return { M: membersOf(value, toAttribute) };
  return JSON.parse(jsonOf(marshall(value, marshallOptions)));
}

function fromAttribute(value: unknown): unknown {
  const { S, N, BOOL, L, M } = Object(value);
  if (S !== undefined) return S;
  if (N !== undefined && Number.isSafeInteger(Number(N))) return Number(N);
  if (BOOL !== undefined) return BOOL;
  if (L !== undefined) return L.map(fromAttribute);
  if (M !== undefined) return membersOf(M, fromAttribute);
  try {
    return unmarshall(Object(value), { convertWithoutMapWrapper: true });
  } catch {
    // A number that JavaScript does not have. It must not keep the other items of a page from being read.
    return value;
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Converts the members of a map. A member `__proto__` must not become the prototype. */
function membersOf(
  map: Record<string, unknown>,
  convert: (value: unknown) => unknown,
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(map)) {
    if (value === undefined || typeof value === "function") continue;
    if (name === "__proto__")
      Object.defineProperty(members, name, { value: convert(value), enumerable: true });
    else members[name] = convert(value);
  }
  return members;
}

/** Converts the items at some places of an input or output. */
function convertedAt(value: object, places: readonly Place[], convert: Convert): object {
  return places.reduce((each, place) => Object(converted(each, place, convert)), value);
}

function converted(value: unknown, [name, ...rest]: Place, convert: Convert): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (name === undefined) return convert(Object(value));
  if (Array.isArray(value)) return value.map((member) => converted(member, rest, convert));
  const changed: Record<string, unknown> = { ...value };
  for (const each of name === "*" ? Object.keys(value) : [name]) {
    if (each in changed) changed[each] = converted(changed[each], rest, convert);
  }
  return changed;
}

function withBytes(name: string, value: unknown): unknown {
  if (name === "B" && typeof value === "string") return bytesOf(value);
  return name === "BS" && Array.isArray(value) ? value.map(bytesOf) : value;
}

function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, "base64"));
}
