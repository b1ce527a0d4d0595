import { now } from "../platform/clock.ts";
import { RejectedError } from "../platform/rejected-error.ts";
import { keys } from "../platform/table/keys.ts";
import { deleteItem, putItem, putOf } from "../platform/table/write.ts";
import { readCarriers, type RouteRecord, type RoutingTable } from "./record.ts";

/*
 * Changes of routes by operators. The errors have messages for the operator.
 */

/**
 * Checks that the carriers of a route exist. That of the stage does without a record.
 * @throws Error with a message for the operator when one does not
 */
export function checkRoute(
  { carriers: names }: Pick<RouteRecord, "carriers">,
  { carriers }: RoutingTable,
  stageCarrier?: string,
): void {
  const unknown = names.find((name) => name !== stageCarrier && !carriers.has(name));
  if (unknown !== undefined)
    throw new RejectedError(`There is no carrier ${unknown}: add it with carriers set.`);
}

/**
 * Adds or replaces the route of a prefix.
 * @throws Error with a message for the operator when one of its carriers does not exist
 */
export async function setRoute(
  route: Pick<RouteRecord, "carriers" | "messageType" | "prefix">,
  stageCarrier?: string,
): Promise<RouteRecord> {
  checkRoute(route, await readCarriers(), stageCarrier);
  const record = routeRecord(route);
  await putItem(putOf(routeKey(record), record));
  return record;
}

/** Returns the record of a route, updated now. */
export function routeRecord(route: Pick<RouteRecord, "carriers" | "messageType" | "prefix">): RouteRecord {
  return { ...route, entity: "route", updatedAt: now().toISOString() };
}

export async function deleteRoute(route: Pick<RouteRecord, "messageType" | "prefix">): Promise<void> {
  await deleteItem(routeKey(route));
}

function routeKey({
  prefix,
  messageType,
}: Pick<RouteRecord, "messageType" | "prefix">): ReturnType<typeof keys.route> {
  return keys.route(prefix, messageType ?? "any");
}
