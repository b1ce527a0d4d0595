import * as z from "zod/mini";

import { MessageType } from "../api/contract/sms.ts";
import { secondMs } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/read.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import { CarrierSettings } from "./settings.ts";

/*
 * Carriers and routes are data, which the operator's commands change while messages are sent. The carrier
 * that the stage's file names receives the messages without a route.
 */

/** The name of a carrier, which is also a part of the names of its secrets. */
export const CarrierName = z
  .string()
  .check(
    z.regex(
      /^[a-z][a-z0-9-]{0,31}$/,
      "must be 1 to 32 lower-case letters, digits and hyphens, beginning with a letter",
    ),
  );

/** A carrier, without its secrets. */
export const CarrierRecord = z.object({
  entity: z.literal("carrier"),
  name: CarrierName,
  settings: CarrierSettings,
  createdAt: z.string(),
  updatedAt: z.string(),
  /** The time at which the operator disabled it: nothing is submitted to it since. */
  disabledAt: z.optional(z.string()),
  /** Its throughput, in segments; undefined is no limit. */
  segmentsPerSecond: z.optional(z.number().check(z.positive())),
  /** Its secret in Secrets Manager, and the version in use. */
  secretId: z.optional(z.string()),
  secretVersion: z.optional(z.string()),
  /** The public address of the API for the carrier's callbacks; without it no receipts are requested. */
  callbackBaseUrl: z.optional(z.string()),
  /** The SHA-256, in hex, of the token in its callbacks. */
  callbackTokenHash: z.optional(z.string()),
  /** The one before a rotation, and until when it counts, in ISO 8601. */
  previousTokenHash: z.optional(z.string()),
  previousTokenUntil: z.optional(z.string()),
  /** The secret that verifies its callbacks, where the carrier signs them. */
  callbackSecretId: z.optional(z.string()),
});
export type CarrierRecord = z.infer<typeof CarrierRecord>;

/** The carriers for messages to a prefix, in their order. */
export const RouteRecord = z.object({
  entity: z.literal("route"),
  /** The first digits of the numbers; empty in the default route. */
  prefix: z.string().check(z.regex(/^\d{0,15}$/)),
  /** Without it the route is for all message types that have no route for this prefix. */
  messageType: z.optional(MessageType),
  carriers: z.array(CarrierName).check(z.minLength(1)),
  updatedAt: z.string(),
});
export type RouteRecord = z.infer<typeof RouteRecord>;

/** Describes a route for the operator: its prefix and message type. */
export function routeText({ prefix, messageType }: Pick<RouteRecord, "messageType" | "prefix">): string {
  return `${prefix === "" ? "default" : prefix}${messageType === undefined ? "" : ` (${messageType})`}`;
}

/** All carriers by their names, and all routes. */
export interface RoutingTable {
  readonly carriers: ReadonlyMap<string, CarrierRecord>;
  readonly routes: readonly RouteRecord[];
}

/** How long a function uses what it has read: half of the minute within which a change must take effect. */
const keptMs = 30 * secondMs;

/** A limit above the carriers and routes of any operator. */
const maxRows = 20_000;

const Row = z.discriminatedUnion("entity", [CarrierRecord, RouteRecord]);

/**
 * Returns a function that reads the carriers and routes, at most half a minute old. A function instance has one for all
 * its calls.
 */
export function cachedCarriers(): () => Promise<RoutingTable> {
  const cache = new TtlCache<RoutingTable>({ ttlMs: keptMs });
  return async () => cache.read(readCarriers);
}

/** Reads the carriers and routes as they are now. An unreadable row is reported and left out. */
export async function readCarriers(): Promise<RoutingTable> {
  const { pk } = keys.carrier("");
  const rows = itemsOf(await queryRows(Row, { pk, limit: maxRows, consistent: true }));
  const carriers = rows.filter((row) => row.entity === "carrier");
  return {
    carriers: new Map(carriers.map((carrier) => [carrier.name, carrier])),
    routes: rows.filter((row) => row.entity === "route"),
  };
}

/** Reads a carrier as it is now. */
export async function findCarrier(name: string): Promise<CarrierRecord | undefined> {
  return findItem(CarrierRecord, keys.carrier(name), { consistent: true });
}
