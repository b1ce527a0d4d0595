import * as z from "zod/mini";

import { MessageType } from "../contract/sms.ts";
import { secondMs } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/table.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import { CarrierSettings } from "./settings.ts";

/*
 * Carriers and the routes to them are data, which the operator's commands change while messages are sent. Where there is
 * no route, the carrier that the stage's file names takes everything.
 */

/** Also a part of the names of what Secrets Manager keeps. */
export const CarrierName = z
  .string()
  .check(
    z.regex(
      /^[a-z][a-z0-9-]{0,31}$/,
      "must be 1 to 32 lower-case letters, digits and hyphens, with a letter in front",
    ),
  );

/** A carrier, without its secrets. */
export const CarrierRecord = z.object({
  entity: z.literal("carrier"),
  name: CarrierName,
  settings: CarrierSettings,
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Since when nothing is handed to it, if the operator wants that. */
  disabledAt: z.optional(z.string()),
  /** What it takes in a second, in segments; undefined is no limit. */
  segmentsPerSecond: z.optional(z.number().check(z.positive())),
  /** What Secrets Manager has for it, and the version of that which counts. */
  secretId: z.optional(z.string()),
  secretVersion: z.optional(z.string()),
  /** The public address of the API, that the carrier calls back; without it the carrier is not asked for receipts. */
  callbackBaseUrl: z.optional(z.string()),
  /** SHA-256, in hex, of the token that its calls back carry. */
  callbackTokenHash: z.optional(z.string()),
  /** What Secrets Manager has for its calls back, where the carrier signs them. */
  callbackSecretId: z.optional(z.string()),
});
export type CarrierRecord = z.infer<typeof CarrierRecord>;

/** The carriers that messages to numbers with a prefix are handed to, in their order. */
export const RouteRecord = z.object({
  entity: z.literal("route"),
  /** What the numbers begin with; empty for all that no other route is for. */
  prefix: z.string().check(z.regex(/^\d{0,15}$/)),
  /** Without it the route is for those messages that no other one of its prefix is for. */
  messageType: z.optional(MessageType),
  carriers: z.array(CarrierName).check(z.minLength(1)),
  updatedAt: z.string(),
});
export type RouteRecord = z.infer<typeof RouteRecord>;

/** All carriers by their names, and all routes. */
export interface RoutingTable {
  readonly carriers: ReadonlyMap<string, CarrierRecord>;
  readonly routes: readonly RouteRecord[];
}

/** How long a function goes by what it has read: half of the minute in which a change has to count. */
const keptMs = 30 * secondMs;

/** More than an operator has. */
const maxRows = 20_000;

const Row = z.discriminatedUnion("entity", [CarrierRecord, RouteRecord]);

/** The carriers and routes as they were within the last half minute. @returns asks; a function has one for all its calls */
export function cachedCarriers(): () => Promise<RoutingTable> {
  const cache = new TtlCache<RoutingTable>({ ttlMs: keptMs });
  return async () => cache.read(readCarriers);
}

/** The carriers and routes as they are now. One that cannot be read has been reported, and is left out. */
export async function readCarriers(): Promise<RoutingTable> {
  const { pk } = keys.carrier("");
  const rows = itemsOf(await queryRows(Row, { pk, limit: maxRows, consistent: true }));
  const carriers = rows.filter((row) => row.entity === "carrier");
  return {
    carriers: new Map(carriers.map((carrier) => [carrier.name, carrier])),
    routes: rows.filter((row) => row.entity === "route"),
  };
}

/** A carrier as it is now. */
export async function findCarrier(name: string): Promise<CarrierRecord | undefined> {
  return findItem(CarrierRecord, keys.carrier(name), { consistent: true });
}
