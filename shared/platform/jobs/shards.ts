import * as z from "zod/mini";

import { spreadOver } from "../ids.ts";

/**
 * Work that the clock begins is done in so many shards, side by side. A rule calls five at the most. There can be more of
 * them later and not fewer, for what waits in one is looked for there.
 */
export const shardCount = 4;

/** What a function that the clock calls is told: which shard of its work is meant. */
export const ShardOfWork = z.object({ shard: z.int().check(z.gte(0), z.lt(shardCount)) });
export type ShardOfWork = z.infer<typeof ShardOfWork>;

/** The shard that something belongs to, by its id. */
export function shardOf(id: string): number {
  return spreadOver(shardCount, id);
}
