import * as z from "zod";

/** Work that the clock begins is split into so many parts, which run side by side. */
export const shardCount = 4;

/** What a function that the clock calls is told: which part of its work is meant. */
export const ShardOfWork = z.object({ shard: z.int().min(0).lt(shardCount) });
export type ShardOfWork = z.infer<typeof ShardOfWork>;

/** The part that something belongs to, by the last character of its id, which is random. */
export function shardOf(id: string): number {
  return id.charCodeAt(id.length - 1) % shardCount;
}
