import type * as z from "zod/mini";

import { readItem, type Item } from "./attribute-values.ts";
import { CapacityMeter } from "./capacity.ts";
import type { ItemStore } from "./catalog.ts";
import { readPlaceholders } from "./expressions/placeholders.ts";
import { parseProjection, project, projectedPaths } from "./expressions/projections.ts";
import type { Path } from "./expressions/token-reader.ts";
import { placeOfKey } from "./places.ts";
import {
  planDelete,
  planPut,
  planUpdate,
  itemOfFailure,
  type Change,
  type PlannedWrite,
} from "./planned-writes.ts";
import { DeleteItem, GetItem, PutItem, readInput, UpdateItem } from "./requests.ts";
import type { StoredItem } from "./rows.ts";
import { ServiceError } from "./service-error.ts";

export function getItem({ catalog, rows }: ItemStore, input: object): object {
  const request = readInput(GetItem, input);
  const table = catalog.table(request.TableName);
  const paths = requestedPaths(request);
  const found = rows.find(table, placeOfKey(readItem(request.Key), table));
  const meter = new CapacityMeter("read");
  meter.read(table, found?.size ?? 0, { isConsistent: request.ConsistentRead === true });
  return {
    ...(found === undefined ? {} : { Item: paths === undefined ? found.item : project(found.item, paths) }),
    ...meter.consumed(request.ReturnConsumedCapacity),
  };
}

export function putItem(store: ItemStore, input: object): object {
  const request = readInput(PutItem, input);
  return write(store, planPut(store.catalog.table(request.TableName), request), request);
}

export function deleteItem(store: ItemStore, input: object): object {
  const request = readInput(DeleteItem, input);
  return write(store, planDelete(store.catalog.table(request.TableName), request), request);
}

export function updateItem(store: ItemStore, input: object): object {
  const request = readInput(UpdateItem, input);
  return write(store, planUpdate(store.catalog.table(request.TableName), request), request);
}

function write(
  { rows }: ItemStore,
  plan: PlannedWrite,
  {
    ReturnValues,
    ReturnConsumedCapacity,
  }: Pick<z.infer<typeof UpdateItem>, "ReturnConsumedCapacity" | "ReturnValues">,
): object {
  const { table, place } = plan;
  const old = rows.find(table, place);
  if (!plan.isAllowed(old?.item)) {
    throw new ServiceError(
      "ConditionalCheckFailedException",
      "The conditional request failed",
      itemOfFailure(plan, old),
    );
  }
  const change = plan.apply(old?.item);
  const meter = new CapacityMeter("write");
  meter.write(table, rows.write(table, place, old, change));
  return { ...returnedAttributes(ReturnValues, old, change), ...meter.consumed(ReturnConsumedCapacity) };
}

/** Returns the paths of a projection, undefined for all attributes. */
export function requestedPaths(request: {
  readonly ProjectionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
}): readonly Path[] | undefined {
  const { ProjectionExpression: text } = request;
  const projection = text === undefined ? undefined : parseProjection("ProjectionExpression", text);
  const placeholders = readPlaceholders(request, [projection]);
  return projection === undefined ? undefined : projectedPaths(projection, placeholders);
}

function returnedAttributes(
  returnValues: z.infer<typeof UpdateItem>["ReturnValues"],
  old: StoredItem | undefined,
  { item, paths }: Change,
): { Attributes?: Item } {
  switch (returnValues) {
    case undefined:
    case "NONE":
      return {};
    case "ALL_OLD":
      return old === undefined ? {} : { Attributes: old.item };
    case "ALL_NEW":
      return item === undefined ? {} : { Attributes: item };
    case "UPDATED_OLD":
      return ifAny(project(old?.item ?? {}, paths));
    case "UPDATED_NEW":
      return ifAny(project(item ?? {}, paths));
  }
}

function ifAny(item: Item): { Attributes?: Item } {
  return Object.keys(item).length === 0 ? {} : { Attributes: item };
}
