import * as z from "zod/mini";

import { shardIndex } from "../ids.ts";

/**
 * The number of concurrent shards of scheduled work. A rule calls five at most. The number can grow but not shrink, because
 * pending work stays in its shard.
 */
export const shardCount = 4;

/** The input of a scheduled function: the shard of its work. */
export const ShardOfWork = z.object({ shard: z.int().check(z.gte(0), z.lt(shardCount)) });
export type ShardOfWork = z.infer<typeof ShardOfWork>;

/** Returns the shard of an id. */
export function shardOf(id: string): number {
  return shardIndex(shardCount, id);
}
