import type { Key } from "../../shared/platform/table/keys.ts";
import {
  ledgerKey,
  oneShard,
  shardsOfDay,
  withAllShards,
  type DayShard,
} from "../../shared/platform/table/shards.ts";

/** Returns the key of a ledger entry of an organization with one shard. */
export function keyOfEntry(organizationId: string, seq: number): Key<"ledgerEntry"> {
  return ledgerKey({ organizationId, ...oneShard }, seq);
}

/** Returns a shard of a day: the first one, or another. */
export function dayShardOf(organizationId: string, day: string, index = 0): DayShard {
  const shard = shardsOfDay(withAllShards(organizationId), day)[index];
  if (shard === undefined) throw new Error(`there is no shard ${index}`);
  return shard;
}
