import type * as z from "zod/mini";

import { attribute, itemSize, readItem, type AttributeValue, type Item } from "./attribute-values.ts";
import { CapacityMeter } from "./capacity.ts";
import type { ItemStore } from "./catalog.ts";
import { pathsOf } from "./expressions/condition-paths.ts";
import { parseCondition, type Condition } from "./expressions/conditions.ts";
import { conditionHolds } from "./expressions/evaluate-condition.ts";
import { keyRangeOf } from "./expressions/key-conditions.ts";
import { nameOf, readPlaceholders, type Parsed, type Placeholders } from "./expressions/placeholders.ts";
import { parseProjection, project, projectedPaths } from "./expressions/projections.ts";
import type { Path } from "./expressions/token-reader.ts";
import { pageQuery, type Source } from "./page-query.ts";
import { Query, readInput, Scan } from "./requests.ts";
import { projectedItem, storedItem } from "./rows.ts";
import { invalidParameter, validationError } from "./service-error.ts";
import { namesOf, type Index, type Table } from "./table-definitions.ts";

/** The most that a page reads before its filter, unless its first item is larger. */
const maxPageBytes = 1_048_576;

type Request = Omit<z.infer<typeof Query>, "KeyConditionExpression" | "ScanIndexForward">;

/** The source, filter and projection of a read. */
interface Plan {
  readonly table: Table;
  readonly index: Index | undefined;
  readonly placeholders: Placeholders;
  readonly filter: Condition | undefined;
  readonly paths: readonly Path[] | undefined;
}

export function query(store: ItemStore, input: object): object {
  const request = readInput(Query, input);
  const condition = parseCondition("KeyConditionExpression", request.KeyConditionExpression);
  const plan = planOf(store, request, condition);
  const { table, index, placeholders, filter } = plan;
  const key = index ?? table;
  const keyRange = keyRangeOf(condition.tree, key, placeholders);
  const filtered = filter === undefined ? [] : pathsOf(filter).map(([name]) => nameOf(name, placeholders));
  const keyName = filtered.find((name) => namesOf(key).includes(name));
  if (keyName !== undefined) {
    throw validationError(
      `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${keyName}`,
    );
  }
  return pageOf(store, request, { ...plan, keyRange, isAscending: request.ScanIndexForward !== false });
}

export function scan(store: ItemStore, input: object): object {
  const request = readInput(Scan, input);
  const plan = planOf(store, request, undefined);
  return pageOf(store, request, { ...plan, keyRange: undefined, isAscending: true });
}

function planOf({ catalog }: ItemStore, request: Request, keyCondition: Parsed<unknown> | undefined): Plan {
  const table = catalog.table(request.TableName);
  const index = indexOf(table, request);
  const { FilterExpression, ProjectionExpression } = request;
  const filter =
    FilterExpression === undefined ? undefined : parseCondition("FilterExpression", FilterExpression);
  const projection =
    ProjectionExpression === undefined
      ? undefined
      : parseProjection("ProjectionExpression", ProjectionExpression);
  const placeholders = readPlaceholders(request, [keyCondition, filter, projection]);
  const paths = projection === undefined ? undefined : projectedPaths(projection, placeholders);
  if (request.Select === "COUNT" && ProjectionExpression !== undefined) {
    throw validationError("Cannot specify the ProjectionExpression when choosing to get only the Count");
  }
  if (index !== undefined) checkProjected(index, paths, filter, placeholders);
  return { table, index, placeholders, filter: filter?.tree, paths };
}

function pageOf(
  { rows }: ItemStore,
  request: Request,
  plan: Pick<Source, "isAscending" | "keyRange"> & Plan,
): object {
  const { table, index, filter, paths, placeholders } = plan;
  const isCount = request.Select === "COUNT";
  const { ExclusiveStartKey: start } = request;
  const { sql, parameters } = pageQuery({ ...plan, startKey: start && readItem(start) });
  const items: Item[] = [];
  let count = 0;
  let scanned = 0;
  let bytes = 0;
  let last: Record<string, unknown> | undefined;
  let isCut = false;
  // A partition of a table without a sort key has one item, so there is no next page.
  const hasMore = plan.keyRange === undefined || index !== undefined || table.range !== undefined;
  for (const row of rows.statement(sql).iterate(...parameters)) {
    last = row;
    scanned += 1;
    // To count the items of a table, it need not parse them.
    const isRead = !isCount || filter !== undefined || index?.projected !== undefined;
    const item = isRead ? storedItem(row).item : {};
    const entry = index === undefined ? item : projectedItem(index, item);
    bytes += index?.projected === undefined ? Number(row["size"]) : itemSize(entry);
    if (filter === undefined || conditionHolds(entry, filter, placeholders)) {
      count += 1;
      if (!isCount) items.push(paths === undefined ? entry : project(entry, paths));
    }
    isCut = hasMore && (scanned === request.Limit || bytes >= maxPageBytes);
    if (isCut) break;
  }
  const meter = new CapacityMeter("read");
  meter.read(table, bytes, { isConsistent: request.ConsistentRead === true });
  return {
    ...(isCount ? {} : { Items: items }),
    Count: count,
    ScannedCount: scanned,
    ...(isCut && last !== undefined ? { LastEvaluatedKey: keyOf(storedItem(last).item, table, index) } : {}),
    ...meter.consumed(request.ReturnConsumedCapacity),
  };
}

/** @throws ServiceError for an unknown index, and for a consistent read of an index */
function indexOf(table: Table, { IndexName, ConsistentRead }: Request): Index | undefined {
  if (IndexName === undefined) return undefined;
  const index = table.indexes.find(({ definition }) => definition.IndexName === IndexName);
  if (index === undefined) throw validationError(`The table does not have the specified index: ${IndexName}`);
  if (ConsistentRead === true) {
    throw validationError("Consistent reads are not supported on global secondary indexes");
  }
  return index;
}

/** @throws ServiceError for a read of attributes that its index does not project */
function checkProjected(
  { projected, definition: { IndexName } }: Index,
  paths: readonly Path[] | undefined,
  filter: Parsed<Condition> | undefined,
  placeholders: Placeholders,
): void {
  if (projected === undefined) return;
  const absent = (names: readonly string[]): string =>
    [...new Set(names)].filter((name) => !projected.has(name)).join(", ");
  const ofProjection = absent((paths ?? []).map(([name]) => name));
  if (ofProjection !== "") {
    throw invalidParameter(`Global secondary index ${IndexName} does not project [${ofProjection}]`);
  }
  const filtered = filter === undefined ? [] : pathsOf(filter.tree);
  const ofFilter = absent(filtered.map(([name]) => nameOf(name, placeholders)));
  if (ofFilter !== "") {
    throw invalidParameter(
      `Secondary index ${IndexName} does not project one or more filter attributes: [${ofFilter}]`,
    );
  }
}

/** Returns the key after which the next page begins: that of the item and, in an index, also that of the entry. */
function keyOf(item: Item, table: Table, index: Index | undefined): Item {
  const names = [...namesOf(table), ...(index === undefined ? [] : namesOf(index))];
  return Object.fromEntries(
    names.flatMap((name): [string, AttributeValue][] => {
      const value = attribute(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
