import * as z from "zod/mini";

import { validationMessage } from "../../../shared/api/contract/validation.ts";
import type { Item } from "./attribute-values.ts";
import { ServiceError, validationError } from "./service-error.ts";
import { AttributeDefinitions, IndexDefinition, TableDefinition } from "./table-definitions.ts";

// The parameters of operations. The store rejects all others: legacy ones that expressions have replaced, and features of
// the cloud service.

/** An object, whose content readItem checks. */
const WireItem = z.custom<Item>(isObject, "a map of attributes was expected");
const WireItems = z.array(WireItem).check(z.minLength(1));
const TableName = z.string();

const returned = {
  ReturnConsumedCapacity: z.optional(z.enum(["NONE", "TOTAL"])),
};
const written = { ...returned, ReturnItemCollectionMetrics: z.optional(z.literal("NONE")) };
const names = {
  ExpressionAttributeNames: z.optional(
    z.custom<Record<string, string>>(isStringMap, "a map of strings was expected"),
  ),
};
const placeholders = { ...names, ExpressionAttributeValues: z.optional(WireItem) };
const ReturnValuesOnConditionCheckFailure = z.optional(z.enum(["ALL_OLD", "NONE"]));
const conditional = {
  ...placeholders,
  ConditionExpression: z.optional(z.string()),
  ReturnValuesOnConditionCheckFailure,
};

const put = { TableName, Item: WireItem, ...conditional };
const deletion = { TableName, Key: WireItem, ...conditional };
const update = { TableName, Key: WireItem, ...conditional };
const OldOrNone = z.optional(z.enum(["ALL_OLD", "NONE"], "ReturnValues can only be ALL_OLD or NONE"));
const ConsistentRead = z.optional(z.boolean());

export const GetItem = z.strictObject({
  TableName,
  Key: WireItem,
  ConsistentRead,
  ProjectionExpression: z.optional(z.string()),
  ...names,
  ...returned,
});

export const PutItem = z.strictObject({ ...put, ReturnValues: OldOrNone, ...written });
export const DeleteItem = z.strictObject({ ...deletion, ReturnValues: OldOrNone, ...written });
export const UpdateItem = z.strictObject({
  ...update,
  UpdateExpression: z.optional(z.string()),
  ReturnValues: z.optional(z.enum(["ALL_NEW", "ALL_OLD", "NONE", "UPDATED_NEW", "UPDATED_OLD"])),
  ...written,
});

const reading = {
  TableName,
  IndexName: z.optional(z.string()),
  ...placeholders,
  FilterExpression: z.optional(z.string()),
  ProjectionExpression: z.optional(z.string()),
  Select: z.optional(z.enum(["COUNT", "SPECIFIC_ATTRIBUTES"])),
  Limit: z.optional(z.int().check(z.gte(1))),
  ConsistentRead,
  ExclusiveStartKey: z.optional(WireItem),
  ...returned,
};
export const Query = z.strictObject({
  ...reading,
  KeyConditionExpression: z.string(),
  ScanIndexForward: z.optional(z.boolean()),
});
export const Scan = z.strictObject(reading);

const BatchGet = z.strictObject({
  Keys: WireItems,
  ConsistentRead,
  ProjectionExpression: z.optional(z.string()),
  ...names,
});
export const BatchGetItem = z.strictObject({ RequestItems: z.record(z.string(), BatchGet), ...returned });

const BatchWrite = z
  .array(
    z
      .strictObject({
        PutRequest: z.optional(z.strictObject({ Item: WireItem })),
        DeleteRequest: z.optional(z.strictObject({ Key: WireItem })),
      })
      .check(z.refine(hasOneField, "exactly one of PutRequest and DeleteRequest was expected")),
  )
  .check(z.minLength(1));
export const BatchWriteItem = z.strictObject({ RequestItems: z.record(z.string(), BatchWrite), ...written });

const transactionSize = 100;
const TransactWrite = z
  .strictObject({
    ConditionCheck: z.optional(z.strictObject({ ...deletion, ConditionExpression: z.string() })),
    Put: z.optional(z.strictObject(put)),
    Delete: z.optional(z.strictObject(deletion)),
    Update: z.optional(z.strictObject({ ...update, UpdateExpression: z.string() })),
  })
  .check(z.refine(hasOneField, "exactly one of ConditionCheck, Put, Delete and Update was expected"));
export type TransactWrite = z.infer<typeof TransactWrite>;
export const TransactWriteItems = z.strictObject({
  TransactItems: z.array(TransactWrite).check(z.minLength(1), z.maxLength(transactionSize)),
  ClientRequestToken: z.optional(z.string().check(z.minLength(1), z.maxLength(36))),
  ...written,
});

export const CreateTable = TableDefinition;
export const OfTable = z.strictObject({ TableName });
export const UpdateTable = z.strictObject({
  TableName,
  AttributeDefinitions: z.optional(AttributeDefinitions),
  BillingMode: z.optional(z.literal("PAY_PER_REQUEST")),
  GlobalSecondaryIndexUpdates: z.optional(
    z.array(z.strictObject({ Create: IndexDefinition })).check(z.minLength(1)),
  ),
});
/** All tables, because there is one or a few. */
export const ListTables = z.strictObject({});
export const UpdateTimeToLive = z.strictObject({
  TableName,
  TimeToLiveSpecification: z.strictObject({
    Enabled: z.boolean(),
    AttributeName: z.string().check(z.minLength(1), z.maxLength(255)),
  }),
});

/**
 * Parses the parameters of a request.
 * @throws ServiceError for missing, invalid or unsupported parameters
 */
export function readInput<Input>(schema: z.ZodMiniType<Input>, input: object): Input {
  const result = schema.safeParse(input, { error: validationMessage });
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? "" : `Value at '${path.join(".")}': `}${message}`,
  );
  const count = problems.length === 1 ? "1 validation error" : `${problems.length} validation errors`;
  throw validationError(`${count} detected: ${problems.join("; ")}`);
}

/** The error for an operation that is not supported. */
export function unknownOperation(operation: string): ServiceError {
  return new ServiceError("UnknownOperationException", `the local DynamoDB does not support ${operation}`);
}

function hasOneField(input: object): boolean {
  return Object.values(input).filter((value) => value !== undefined).length === 1;
}

function isStringMap(input: unknown): boolean {
  return isObject(input) && Object.values(input).every((value) => typeof value === "string");
}

function isObject(input: unknown): input is object {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}
