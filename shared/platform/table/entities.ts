import type * as z from "zod/mini";

/**
 * The schema of each kind of item in the table, by the name that its keys have in `keys.ts`. `shared/entities.ts` fills it, so
 * that the table layer imports no business code. Reads and writes are typed by it: a wrong field or key does not compile.
 * @public
 */
export interface Entities {}

export type EntityName = keyof Entities;

type SchemaOf<Name extends EntityName> =
  Entities[Name] extends z.ZodMiniType<object, object> ? Entities[Name] : never;

/** Fields that any item has or may have. */
interface TableFields {
  pk: string;
  sk: string;
  entity?: string;
  /** When the table deletes it, in seconds since the epoch. */
  expiresAt?: number | undefined;
}

/** A union of records stays one, so that each of them has its own fields. */
type WithTableFields<Fields> = Fields extends object ? Fields & Omit<TableFields, keyof Fields> : never;

/** A value as it is given. The table layer does not change lists. */
export type Given<Value> = Value extends (infer Element)[] ? readonly Element[] : Value;
type Without<Fields, Name extends string> = Fields extends object
  ? { readonly [Field in keyof Fields as Exclude<Field, Name>]: Given<Fields[Field]> }
  : never;

/** An item as it is read. */
export type ItemOf<Name extends EntityName> = WithTableFields<z.output<SchemaOf<Name>>>;

/** An item as it is written: fields with a default may be missing. */
export type StoredOf<Name extends EntityName> = WithTableFields<z.input<SchemaOf<Name>>>;

/** The fields of a new item, without its key. */
export type RecordOf<Name extends EntityName> = Without<StoredOf<Name>, "pk" | "sk">;

/** Rejects a schema that does not read items of a kind. A schema with fewer fields reads them. */
export type Readable<Name extends EntityName, Item> = ItemOf<Name> extends Item ? unknown : never;
