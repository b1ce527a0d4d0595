import { BoundedMap } from "../../platform/bounded-map.ts";
import { oneShard, shardsIn, type Sharded } from "../../platform/table/shards.ts";

/*
 * The id of a message names its shard, and the wallet has the shards of its organization. A message gets its id before the
 * debit, so that all writes of an acceptance are known before any money moves. The shards are those of the last debit here, or
 * the first one. An organization only gets more, and lists read all of them, so that older ones are right too.
 */

interface Place {
  readonly shards: Sharded;
  /** Whether the last debit succeeded. */
  readonly isDebitLikely: boolean;
}

/** The places of organizations whose wallets this instance has debited, by their ids. */
export const placesOfDebits = new BoundedMap<Place>();

/** Returns an organization with the shards for its new messages. */
export function placeOf(organizationId: string): Sharded {
  return placesOfDebits.get(organizationId)?.shards ?? { organizationId, ...oneShard };
}

/** Whether the next debit of an organization is likely to succeed, because the last one here did. */
export function isDebitLikely(organizationId: string): boolean {
  return placesOfDebits.get(organizationId)?.isDebitLikely === true;
}

/** Notes a debit in this instance. @param wallet the wallet after it; undefined if it failed */
export function noteDebit(organizationId: string, wallet: Sharded | undefined): void {
  const shards = wallet === undefined ? placeOf(organizationId) : shardsIn(wallet);
  placesOfDebits.set(organizationId, { shards, isDebitLikely: wallet !== undefined });
}
