import * as z from "zod/mini";

import type { ScalarType } from "./attribute-values.ts";
import { invalidParameter } from "./service-error.ts";

const Name = z.string().check(z.regex(/^[\w.-]{3,255}$/));

const KeySchema = z
  .array(
    z.strictObject({ AttributeName: z.string().check(z.minLength(1)), KeyType: z.enum(["HASH", "RANGE"]) }),
  )
  .check(
    z.minLength(1),
    z.maxLength(2),
    z.refine(
      ([hash, range]) => hash?.KeyType === "HASH" && (range === undefined || range.KeyType === "RANGE"),
      {
        error: "Invalid KeySchema: the first key attribute is a HASH key, the second one a RANGE key",
      },
    ),
  );

export const IndexDefinition = z.strictObject({
  IndexName: Name,
  KeySchema,
  Projection: z.discriminatedUnion("ProjectionType", [
    z.strictObject({ ProjectionType: z.enum(["ALL", "KEYS_ONLY"]) }),
    z.strictObject({
      ProjectionType: z.literal("INCLUDE"),
      NonKeyAttributes: z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.maxLength(100)),
    }),
  ]),
});
export type IndexDefinition = z.infer<typeof IndexDefinition>;

export const AttributeDefinitions = z.array(
  z.strictObject({ AttributeName: z.string().check(z.minLength(1)), AttributeType: z.enum(["B", "N", "S"]) }),
);

/** The parameters of CreateTable. Tables with provisioned capacity are rejected. */
export const TableDefinition = z.strictObject({
  TableName: Name,
  KeySchema,
  AttributeDefinitions,
  GlobalSecondaryIndexes: z.optional(z.array(IndexDefinition).check(z.minLength(1), z.maxLength(20))),
  BillingMode: z.literal("PAY_PER_REQUEST"),
});
export type TableDefinition = z.infer<typeof TableDefinition>;

/** An attribute of a key. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: ScalarType;
}

/** The attributes of a key, that of the partition first. */
export interface KeyAttributes {
  readonly hash: KeyAttribute;
  readonly range: KeyAttribute | undefined;
}

export interface Index extends KeyAttributes {
  readonly id: number;
  readonly definition: IndexDefinition;
  /** The attributes of its entries, undefined for all. */
  readonly projected: ReadonlySet<string> | undefined;
}

/** A table as the database stores it. */
export interface StoredTable {
  readonly definition: TableDefinition;
  /** The ids of its indexes by their names. */
  readonly indexIds: Readonly<Record<string, number>>;
  /** The attribute with the time when an item expires. */
  readonly timeToLive?: string | undefined;
  readonly createdAtMs: number;
}

/** A table in the form that requests need. */
export interface Table extends KeyAttributes {
  readonly id: number;
  readonly name: string;
  readonly stored: StoredTable;
  readonly indexes: readonly Index[];
  /** The names of its own key's attributes. */
  readonly keyNames: readonly string[];
}

export function tableOf(id: number, stored: StoredTable): Table {
  const { definition, indexIds } = stored;
  const key = keyAttributes(definition, definition.KeySchema);
  const keyNames = namesOf(key);
  return {
    ...key,
    id,
    name: definition.TableName,
    stored,
    keyNames,
    indexes: (definition.GlobalSecondaryIndexes ?? []).map((index) => ({
      ...keyAttributes(definition, index.KeySchema),
      id: indexIds[index.IndexName] ?? 0,
      definition: index,
      projected: projectedNames(index, keyNames),
    })),
  };
}

function projectedNames(
  { KeySchema: schema, Projection }: IndexDefinition,
  keyNames: readonly string[],
): ReadonlySet<string> | undefined {
  if (Projection.ProjectionType === "ALL") return undefined;
  const others = Projection.ProjectionType === "INCLUDE" ? Projection.NonKeyAttributes : [];
  return new Set([...keyNames, ...schema.map(({ AttributeName }) => AttributeName), ...others]);
}

/** @throws ServiceError when an attribute of the key is not defined */
function keyAttributes(
  { AttributeDefinitions: attributes }: TableDefinition,
  [hash, range]: z.infer<typeof KeySchema>,
): KeyAttributes {
  const find = (name: string): KeyAttribute => {
    const found = attributes.find(({ AttributeName }) => AttributeName === name);
    if (found === undefined) {
      throw invalidParameter(
        "Some index key attributes are not defined in AttributeDefinitions. " +
          `Keys: [${name}], AttributeDefinitions: [${attributes.map(({ AttributeName }) => AttributeName).join(", ")}]`,
      );
    }
    return { name, type: found.AttributeType };
  };
  return {
    hash: find(hash?.AttributeName ?? ""),
    range: range === undefined ? undefined : find(range.AttributeName),
  };
}

/** Returns the names of a key's attributes, that of the partition first. */
export function namesOf({ hash, range }: KeyAttributes): readonly string[] {
  return range === undefined ? [hash.name] : [hash.name, range.name];
}
