import { shardCount } from "../../shared/platform/jobs/shards.ts";

/** Does a scheduled work in all its shards. @returns the sum of what they say they did */
export async function inAllShards(work: (shard: number) => Promise<number>): Promise<number> {
  const done = await Promise.all(Array.from({ length: shardCount }, async (_, shard) => work(shard)));
  return done.reduce((sum, count) => sum + count, 0);
}
