import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { queryItems } from "../../platform/table/read.ts";
import { deleteItem, putItem, putOf, updateItem, updateOf } from "../../platform/table/write.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import { caching, readCached } from "./current.ts";

/*
 * Blocked destinations: prefixes to whose numbers nothing is sent, for one organization or for all. The operator stops a fraud
 * with them. A limited destination is one to which each organization may spend only an amount in a day. Each is an item of
 * its own, so that two operators do not overwrite each other's blocks.
 */

export const BlockedDestination = z.object({
  entity: z.literal("blockedDestination"),
  prefix: z.string(),
  /** Absent if the prefix is blocked for all organizations. */
  organizationId: z.optional(z.string()),
  /** The amount that an organization may spend in a day (UTC). Absent if the prefix is blocked. */
  dailyMicros: z.optional(z.int().check(z.positive())),
  /** For other operators. */
  reason: z.string(),
  blockedAt: z.string(),
});
export type BlockedDestination = z.infer<typeof BlockedDestination>;

/** A prefix, and the only organization for which it is blocked. Without one it is blocked for all. */
export type Target = Pick<BlockedDestination, "organizationId" | "prefix">;

/** A limit above the blocked destinations of any operator. */
const maxRows = 20_000;

export const blockedCache = new TtlCache<readonly BlockedDestination[]>(caching);

/**
 * Returns the prefixes that are blocked for an organization, as old as prices may be (`currentRateCard`).
 * @throws ApiError UNAVAILABLE when they cannot be read and none are cached
 */
export async function blockedPrefixes(organizationId: string): Promise<string[]> {
  const ofOrganization = await restrictionsOf(organizationId);
  return ofOrganization.filter(({ dailyMicros }) => dailyMicros === undefined).map(({ prefix }) => prefix);
}

/** A prefix, and the amount that an organization may spend on its numbers in a day (UTC). */
export interface DailyLimit {
  readonly prefix: string;
  readonly dailyMicros: number;
}

/**
 * Returns the limits of an organization, as old as its blocks may be. Its own limit of a prefix replaces that of all.
 * @throws ApiError UNAVAILABLE when they cannot be read and none are cached
 */
export async function dailyLimits(organizationId: string): Promise<DailyLimit[]> {
  const limits = (await restrictionsOf(organizationId)).filter(
    ({ dailyMicros }) => dailyMicros !== undefined,
  );
  const own = limits.filter((each) => each.organizationId !== undefined);
  return limits
    .filter((each) => own.includes(each) || !own.some(({ prefix }) => prefix === each.prefix))
    .map(({ prefix, dailyMicros = 0 }) => ({ prefix, dailyMicros }));
}

/** Returns the blocks and limits that apply to an organization. */
async function restrictionsOf(organizationId: string): Promise<BlockedDestination[]> {
  const all = await readCached(blockedCache, readBlocked);
  return all.filter((each) => [undefined, organizationId].includes(each.organizationId));
}

/** Whether a number, or all numbers with a prefix, are among the blocked ones. */
export function isBlocked(number: string, blocked: readonly string[]): boolean {
  return blocked.some((prefix) => number.startsWith(prefix));
}

/** Reads all blocked and limited destinations as they are now, in the order of their prefixes. */
export async function readBlocked(): Promise<BlockedDestination[]> {
  const { pk } = keys.blockedDestination("");
  return queryItems(BlockedDestination, { pk, limit: maxRows, consistent: true });
}

/** Blocks a prefix within a minute. @returns the block; an earlier one stays, with its reason */
export async function blockDestination(
  { prefix, organizationId }: Target,
  reason: string,
): Promise<BlockedDestination> {
  const blockedAt = now().toISOString();
  const set = { entity: "blockedDestination", prefix, organizationId, reason, blockedAt } as const;
  const update = updateOf(keys.blockedDestination(prefix, organizationId), { set }, { absent: ["entity"] });
  const blocked = await updateItem(BlockedDestination, update);
  return blocked.applied ? blocked.item : BlockedDestination.parse(blocked.found);
}

/**
 * Limits the spending on a prefix within a minute, or ends the limit. An earlier limit is replaced, and its spending of the
 * day still counts.
 */
export async function limitDestination(
  { prefix, organizationId }: Target,
  dailyMicros: number | undefined,
  reason: string,
): Promise<BlockedDestination | undefined> {
  const key = keys.limitedDestination(prefix, organizationId);
  if (dailyMicros === undefined) {
    await deleteItem(key);
    return undefined;
  }
  const limit = { prefix, organizationId, dailyMicros, reason, blockedAt: now().toISOString() };
  await putItem(putOf(key, { entity: "blockedDestination", ...limit }));
  return { entity: "blockedDestination", ...limit };
}

/** Ends a block within a minute. */
export async function unblockDestination({ prefix, organizationId }: Target): Promise<void> {
  await deleteItem(keys.blockedDestination(prefix, organizationId));
}
