import type * as z from "zod/mini";

import { localRegion } from "../connections.ts";
import { localAccountId } from "../references.ts";
import type { Database } from "./database.ts";
import { readInput, ListTables, type UpdateTable, UpdateTimeToLive } from "./requests.ts";
import type { Rows } from "./rows.ts";
import { ServiceError, validationError } from "./service-error.ts";
import {
  tableOf,
  type IndexDefinition,
  type StoredTable,
  type Table,
  type TableDefinition,
} from "./table-definitions.ts";

/** The number of items whose average size estimates the size of the table. */
const sampledItems = 1_000;

/** The tables with their definitions, and the rows with their items. */
export interface ItemStore {
  readonly catalog: Catalog;
  readonly rows: Rows;
}

/** The existing tables, and the operations that create and change them. */
export class Catalog {
  readonly #database: Database;
  readonly #rows: Rows;
  readonly #now: () => number;
  readonly #tables = new Map<string, Table>();

  /** @param now in milliseconds since the epoch */
  constructor(database: Database, rows: Rows, now: () => number) {
    this.#database = database;
    this.#rows = rows;
    this.#now = now;
    for (const { id, content } of database.sqlite.prepare("SELECT id, content FROM tables").all()) {
      const table = tableOf(Number(id), JSON.parse(String(content)));
      this.#tables.set(table.name, table);
    }
  }

  get tables(): readonly Table[] {
    return [...this.#tables.values()];
  }

  /** @throws ServiceError ResourceNotFoundException */
  table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) {
      throw new ServiceError("ResourceNotFoundException", "Requested resource not found");
    }
    return table;
  }

  create(definition: TableDefinition): object {
    const { TableName } = definition;
    if (this.#tables.has(TableName)) {
      throw new ServiceError("ResourceInUseException", `Table already exists: ${TableName}`);
    }
    const indexes = definition.GlobalSecondaryIndexes ?? [];
    if (new Set(indexes.map(({ IndexName }) => IndexName)).size < indexes.length) {
      throw validationError("One or more parameter values were invalid: Duplicate index name");
    }
    let indexId = this.#lastIndexId();
    const stored: StoredTable = {
      definition,
      indexIds: Object.fromEntries(indexes.map(({ IndexName }) => [IndexName, (indexId += 1)])),
      createdAtMs: this.#now(),
    };
    // Throws for invalid keys, before any write.
    tableOf(0, stored);
    checkDefinitions(definition);
    this.#database.beginWrite();
    const insert = this.#rows.statement("INSERT INTO tables (name, content) VALUES (?, ?)");
    const { lastInsertRowid } = insert.run(TableName, JSON.stringify(stored));
    const table = tableOf(Number(lastInsertRowid), stored);
    this.#tables.set(TableName, table);
    return { TableDescription: this.#description(table) };
  }

  describe({ TableName }: { TableName: string }): object {
    return { Table: this.#description(this.table(TableName)) };
  }

  /** Adds indexes. A new index immediately has entries for all present items. */
  update(changes: z.infer<typeof UpdateTable>): object {
    let table = this.table(changes.TableName);
    const updates = changes.GlobalSecondaryIndexUpdates ?? [];
    if (updates.length > 1) {
      throw new ServiceError(
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
      );
    }
    for (const { Create } of updates) {
      const present = table.stored.definition.GlobalSecondaryIndexes ?? [];
      if (present.some(({ IndexName }) => IndexName === Create.IndexName)) {
        throw validationError(
          `One or more parameter values were invalid: The index ${Create.IndexName} already exists`,
        );
      }
      table = this.#withIndex(table, Create, changes.AttributeDefinitions);
    }
    return { TableDescription: this.#description(table) };
  }

  list(input: object): object {
    readInput(ListTables, input);
    return { TableNames: [...this.#tables.keys()].toSorted() };
  }

  describeTimeToLive({ TableName }: { TableName: string }): object {
    const { timeToLive } = this.table(TableName).stored;
    return {
      TimeToLiveDescription:
        timeToLive === undefined
          ? { TimeToLiveStatus: "DISABLED" }
          : { TimeToLiveStatus: "ENABLED", AttributeName: timeToLive },
    };
  }

  updateTimeToLive(input: object): object {
    const { TableName, TimeToLiveSpecification } = readInput(UpdateTimeToLive, input);
    const { Enabled, AttributeName } = TimeToLiveSpecification;
    const table = this.table(TableName);
    const { timeToLive } = table.stored;
    if (Enabled === (timeToLive !== undefined)) {
      throw validationError(`TimeToLive is already ${Enabled ? "enabled" : "disabled"}`);
    }
    if (!Enabled && timeToLive !== AttributeName) {
      throw validationError(
        `TimeToLive is active on a different AttributeName: current AttributeName is ${timeToLive}`,
      );
    }
    const changed = this.#store(table.id, {
      ...table.stored,
      timeToLive: Enabled ? AttributeName : undefined,
    });
    this.#rows.fillExpiries(changed);
    return { TimeToLiveSpecification };
  }

  #withIndex(
    table: Table,
    added: IndexDefinition,
    definitions: TableDefinition["AttributeDefinitions"] = [],
  ): Table {
    const { definition, indexIds } = table.stored;
    const indexes = [...(definition.GlobalSecondaryIndexes ?? []), added];
    const known = new Map(
      [...definition.AttributeDefinitions, ...definitions].map((each) => [each.AttributeName, each]),
    );
    const used = keyAttributeNames(definition, indexes);
    const after = this.#store(table.id, {
      ...table.stored,
      definition: {
        ...definition,
        AttributeDefinitions: [...known.values()].filter(({ AttributeName }) => used.has(AttributeName)),
        GlobalSecondaryIndexes: indexes,
      },
      indexIds: { ...indexIds, [added.IndexName]: this.#lastIndexId() + 1 },
    });
    for (const index of after.indexes.slice(-1)) this.#rows.fillIndex(after, index);
    return after;
  }

  #store(id: number, stored: StoredTable): Table {
    const table = tableOf(id, stored);
    this.#database.beginWrite();
    this.#rows.statement("UPDATE tables SET content = ? WHERE id = ?").run(JSON.stringify(stored), id);
    this.#tables.set(table.name, table);
    return table;
  }

  #lastIndexId(): number {
    return Math.max(0, ...this.tables.flatMap(({ indexes }) => indexes.map(({ id }) => id)));
  }

  /** Its size is the average of a sample, times the number of items. */
  #description(table: Table): object {
    const { definition, createdAtMs } = table.stored;
    const items = Number(
      this.#rows.statement("SELECT count(*) AS items FROM items WHERE table_id = ?").get(table.id)?.["items"],
    );
    const { size } = this.#rows
      .statement("SELECT avg(size) AS size FROM (SELECT size FROM items WHERE table_id = ? LIMIT ?)")
      .get(table.id, sampledItems) ?? { size: 0 };
    const arn = `arn:aws:dynamodb:${localRegion}:${localAccountId}:table/${table.name}`;
    return {
      TableName: table.name,
      TableArn: arn,
      TableStatus: "ACTIVE",
      KeySchema: definition.KeySchema,
      AttributeDefinitions: definition.AttributeDefinitions,
      CreationDateTime: createdAtMs / 1_000,
      ItemCount: items,
      TableSizeBytes: Math.round(items * Number(size ?? 0)),
      BillingModeSummary: { BillingMode: definition.BillingMode },
      ...(definition.GlobalSecondaryIndexes === undefined
        ? {}
        : {
            GlobalSecondaryIndexes: definition.GlobalSecondaryIndexes.map((index) => ({
              ...index,
              IndexArn: `${arn}/index/${index.IndexName}`,
              IndexStatus: "ACTIVE",
            })),
          }),
      DeletionProtectionEnabled: false,
    };
  }
}

/** @throws ServiceError for the definition of an attribute that is no part of a key */
function checkDefinitions(definition: TableDefinition): void {
  const used = keyAttributeNames(definition, definition.GlobalSecondaryIndexes ?? []);
  if (definition.AttributeDefinitions.every(({ AttributeName }) => used.has(AttributeName))) return;
  throw validationError(
    "One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of " +
      "attributes defined in AttributeDefinitions",
  );
}

/** Returns the names of all attributes that are parts of a key, of the table or of an index. */
function keyAttributeNames(table: TableDefinition, indexes: readonly IndexDefinition[]): ReadonlySet<string> {
  return new Set(
    [table, ...indexes].flatMap(({ KeySchema }) => KeySchema.map(({ AttributeName }) => AttributeName)),
  );
}
