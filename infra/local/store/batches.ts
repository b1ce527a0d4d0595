import { readItem, type Item } from "./attribute-values.ts";
import { CapacityMeter } from "./capacity.ts";
import type { ItemStore } from "./catalog.ts";
import { project } from "./expressions/projections.ts";
import { requestedPaths } from "./items.ts";
import { placeKey, placeOfKey } from "./places.ts";
import { planDelete, planPut, type PlannedWrite } from "./planned-writes.ts";
import { BatchGetItem, BatchWriteItem, readInput } from "./requests.ts";
import { validationError } from "./service-error.ts";

const maxKeys = 100;
const maxWrites = 25;
/** The largest response. It returns the keys of the remaining items as unprocessed. */
const maxResponseBytes = 16 * 1_024 * 1_024;

/** Reads many items, each on its own. */
export function getBatch({ catalog, rows }: ItemStore, input: object): object {
  const request = readInput(BatchGetItem, input);
  const parts = Object.entries(request.RequestItems).map(([name, { Keys, ...options }]) => {
    const table = catalog.table(name);
    const places = Keys.map((key) => ({ key, place: placeOfKey(readItem(key), table) }));
    return { table, places, options, paths: requestedPaths(options) };
  });
  const count = parts.reduce((sum, { places }) => sum + places.length, 0);
  if (count === 0 || count > maxKeys) throw tooMany("getItem", maxKeys);
  checkDistinct(parts.flatMap(({ table, places }) => places.map(({ place }) => placeKey(table, place))));
  const meter = new CapacityMeter("read");
  const Responses: Record<string, Item[]> = {};
  const UnprocessedKeys: Record<string, object> = {};
  let bytes = 0;
  for (const { table, places, options, paths } of parts) {
    const items: Item[] = [];
    const left: object[] = [];
    for (const { key, place } of places) {
      // Once the response is full, no more items are read.
      const found = bytes > maxResponseBytes ? undefined : rows.find(table, place);
      bytes += found?.size ?? 0;
      if (bytes > maxResponseBytes) {
        left.push(key);
        continue;
      }
      meter.read(table, found?.size ?? 0, { isConsistent: options.ConsistentRead === true });
      if (found !== undefined) items.push(paths === undefined ? found.item : project(found.item, paths));
    }
    Responses[table.name] = items;
    if (left.length > 0) UnprocessedKeys[table.name] = { ...options, Keys: left };
  }
  return { Responses, UnprocessedKeys, ...meter.consumedByTable(request.ReturnConsumedCapacity) };
}

/** Writes many items, each on its own. */
export function writeBatch({ catalog, rows }: ItemStore, input: object): object {
  const request = readInput(BatchWriteItem, input);
  const plans = Object.entries(request.RequestItems).flatMap(([name, writes]) => {
    const table = catalog.table(name);
    return writes.map(({ PutRequest, DeleteRequest }): PlannedWrite => {
      if (PutRequest !== undefined) return planPut(table, PutRequest);
      if (DeleteRequest !== undefined) return planDelete(table, DeleteRequest);
      throw validationError("a write has no operation");
    });
  });
  if (plans.length === 0 || plans.length > maxWrites) throw tooMany("batchWriteItem", maxWrites);
  checkDistinct(plans.map(({ table, place }) => placeKey(table, place)));
  const meter = new CapacityMeter("write");
  for (const { table, place, apply } of plans) {
    const old = rows.find(table, place);
    meter.write(table, rows.write(table, place, old, apply(old?.item)));
  }
  return { UnprocessedItems: {}, ...meter.consumedByTable(request.ReturnConsumedCapacity) };
}

function checkDistinct(keys: readonly string[]): void {
  if (new Set(keys).size < keys.length)
    throw validationError("Provided list of item keys contains duplicates");
}

function tooMany(operation: string, max: number): Error {
  return validationError(`Too many items requested for the ${operation} call: it accepts 1 to ${max} items`);
}
