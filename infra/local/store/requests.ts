import * as z from "zod";

import type { Item } from "./attribute-values.ts";
import { ServiceError, validationError } from "./service-error.ts";
import { AttributeDefinitions, IndexDefinition, TableDefinition } from "./table-definitions.ts";

// The parameters of operations. What is not listed is refused: the older ones that expressions have replaced, and what
// only a service in the cloud can do.

/** An object: what it has is checked by readItem. */
const WireItem = z.custom<Item>(isObject, "a map of attributes was expected");
const WireItems = z.array(WireItem).min(1);
const TableName = z.string();

const returned = {
  ReturnConsumedCapacity: z.enum(["INDEXES", "NONE", "TOTAL"]).optional(),
};
const written = { ...returned, ReturnItemCollectionMetrics: z.literal("NONE").optional() };
const names = {
  ExpressionAttributeNames: z
    .custom<Record<string, string>>(isStringMap, "a map of strings was expected")
    .optional(),
};
const placeholders = { ...names, ExpressionAttributeValues: WireItem.optional() };
const ReturnValuesOnConditionCheckFailure = z.enum(["ALL_OLD", "NONE"]).optional();
const conditional = {
  ...placeholders,
  ConditionExpression: z.string().optional(),
  ReturnValuesOnConditionCheckFailure,
};

const put = { TableName, Item: WireItem, ...conditional };
const deletion = { TableName, Key: WireItem, ...conditional };
const update = { TableName, Key: WireItem, ...conditional };
const OldOrNone = z.enum(["ALL_OLD", "NONE"], "ReturnValues can only be ALL_OLD or NONE").optional();
const ConsistentRead = z.boolean().optional();

export const GetItem = z.strictObject({
  TableName,
  Key: WireItem,
  ConsistentRead,
  ProjectionExpression: z.string().optional(),
  ...names,
  ...returned,
});

export const PutItem = z.strictObject({ ...put, ReturnValues: OldOrNone, ...written });
export const DeleteItem = z.strictObject({ ...deletion, ReturnValues: OldOrNone, ...written });
export const UpdateItem = z.strictObject({
  ...update,
  UpdateExpression: z.string().optional(),
  ReturnValues: z.enum(["ALL_NEW", "ALL_OLD", "NONE", "UPDATED_NEW", "UPDATED_OLD"]).optional(),
  ...written,
});

const reading = {
  TableName,
  IndexName: z.string().optional(),
  ...placeholders,
  FilterExpression: z.string().optional(),
  ProjectionExpression: z.string().optional(),
  Select: z.enum(["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES"]).optional(),
  Limit: z.int().min(1).optional(),
  ConsistentRead,
  ExclusiveStartKey: WireItem.optional(),
  ...returned,
};
export const Query = z.strictObject({
  ...reading,
  KeyConditionExpression: z.string(),
  ScanIndexForward: z.boolean().optional(),
});
export const Scan = z.strictObject({
  ...reading,
  Segment: z.int().min(0).max(999_999).optional(),
  TotalSegments: z.int().min(1).max(1_000_000).optional(),
});

const BatchGet = z.strictObject({
  Keys: WireItems,
  ConsistentRead,
  ProjectionExpression: z.string().optional(),
  ...names,
});
export const BatchGetItem = z.strictObject({ RequestItems: byTable(BatchGet), ...returned });

const BatchWrite = z
  .array(
    z
      .strictObject({
        PutRequest: z.strictObject({ Item: WireItem }).optional(),
        DeleteRequest: z.strictObject({ Key: WireItem }).optional(),
      })
      .refine(hasOneField, "exactly one of PutRequest and DeleteRequest was expected"),
  )
  .min(1);
export const BatchWriteItem = z.strictObject({ RequestItems: byTable(BatchWrite), ...written });

const transactionSize = 100;
export const TransactGetItems = z.strictObject({
  TransactItems: z
    .array(
      z.strictObject({
        Get: z.strictObject({
          TableName,
          Key: WireItem,
          ProjectionExpression: z.string().optional(),
          ...names,
        }),
      }),
    )
    .min(1)
    .max(transactionSize),
  ...returned,
});
const TransactWrite = z
  .strictObject({
    ConditionCheck: z.strictObject({ ...deletion, ConditionExpression: z.string() }).optional(),
    Put: z.strictObject(put).optional(),
    Delete: z.strictObject(deletion).optional(),
    Update: z.strictObject({ ...update, UpdateExpression: z.string() }).optional(),
  })
  .refine(hasOneField, "exactly one of ConditionCheck, Put, Delete and Update was expected");
export type TransactWrite = z.infer<typeof TransactWrite>;
export const TransactWriteItems = z.strictObject({
  TransactItems: z.array(TransactWrite).min(1).max(transactionSize),
  ClientRequestToken: z.string().min(1).max(36).optional(),
  ...written,
});

export const CreateTable = TableDefinition;
export const OfTable = z.strictObject({ TableName });
export const UpdateTable = z.strictObject({
  TableName,
  AttributeDefinitions: AttributeDefinitions.optional(),
  BillingMode: z.literal("PAY_PER_REQUEST").optional(),
  GlobalSecondaryIndexUpdates: z
    .array(
      z
        .strictObject({
          Create: IndexDefinition.optional(),
          Delete: z.strictObject({ IndexName: z.string() }).optional(),
        })
        .refine(hasOneField, "exactly one of Create and Delete was expected"),
    )
    .min(1)
    .optional(),
});
export const ListTables = z.strictObject({
  ExclusiveStartTableName: z.string().optional(),
  Limit: z.int().min(1).max(100).default(100),
});
export const UpdateTimeToLive = z.strictObject({
  TableName,
  TimeToLiveSpecification: z.strictObject({
    Enabled: z.boolean(),
    AttributeName: z.string().min(1).max(255),
  }),
});

/**
 * The parameters of a request.
 * @throws ServiceError for what is missing, of another type, or not known here
 */
export function readInput<Input>(schema: z.ZodType<Input>, input: object): Input {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? "" : `Value at '${path.join(".")}': `}${message}`,
  );
  const count = problems.length === 1 ? "1 validation error" : `${problems.length} validation errors`;
  throw validationError(`${count} detected: ${problems.join("; ")}`);
}

/** An operation that is not offered here. */
export function unknownOperation(operation: string): ServiceError {
  return new ServiceError("UnknownOperationException", `the local DynamoDB does not offer ${operation}`);
}

function byTable<Each extends z.ZodType>(each: Each): z.ZodRecord<z.ZodString, Each> {
  return z.record(z.string(), each);
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
