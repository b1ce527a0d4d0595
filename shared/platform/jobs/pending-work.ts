import * as z from "zod/mini";

import { now } from "../clock.ts";
import type { Key } from "../table/keys.ts";
import { pendingWorkIndex } from "../table/pending-work-index.ts";
import { queryItems } from "../table/read.ts";
import { shardOf } from "./shards.ts";

/*
 * Pending work. An item that background work has to visit has two fields that name the work and its time. An index lists these
 * items, so that no work has to search for them.
 */

/** The fields of an item with pending work. Completed work removes both. */
export const pendingWorkFields = { pendingWork: z.optional(z.string()), visitAt: z.optional(z.string()) };

/** Items that are visited concurrently. */
const concurrency = 10;

/** Items that one request lists. */
const batchSize = 500;

/** The kinds of items that have each kind of work. */
interface ItemsWith {
  "CLOSE-DAY": "counts";
  "EXPIRE-ACCOUNT": "organization";
  PAYMENT: "payment";
  SETTLE: "wallet";
}
type PendingWorkName = keyof ItemsWith;

/** Returns the key of the pending-work index for an organization's items. */
export function pendingWorkOf(name: PendingWorkName, organizationId: string): string {
  return pendingWorkOfShard(name, shardOf(organizationId));
}

function pendingWorkOfShard(name: PendingWorkName, shard: number): string {
  return `${name}#${shard}`;
}

export interface PendingWork<Name extends PendingWorkName> {
  readonly name: Name;
  readonly shard: number;
  /** Whether a run may begin with more items. The next run visits the rest. */
  readonly isTimeLeft: () => boolean;
  /** Works on one item. It must not throw, because the items after it would not be visited. */
  readonly visit: (key: Key<ItemsWith[Name]>) => Promise<void>;
}

const Listed = z.object({ pk: z.string(), sk: z.string(), visitAt: z.string() });
type Listed = z.infer<typeof Listed>;

/** Visits the due items of one shard of the pending work, the longest due first, each once. */
export async function workOnPending<Name extends PendingWorkName>({
  name,
  shard,
  isTimeLeft,
  visit,
}: PendingWork<Name>): Promise<void> {
  const to = now().toISOString();
  const visited = new Set<string>();
  let from: string | undefined;
  for (;;) {
    const range = { index: pendingWorkIndex, pk: pendingWorkOfShard(name, shard), to, limit: batchSize };
    const batch: Listed[] = await queryItems(Listed, { ...range, ...(from === undefined ? {} : { from }) });
    // Several can be due at the same moment, and the last ones of a batch are listed again.
    const waiting = batch.filter(({ pk, sk }) => !visited.has(`${pk} ${sk}`));
    for (const { pk, sk } of waiting) visited.add(`${pk} ${sk}`);
    await sideBySide(waiting.values(), isTimeLeft, visit);
    if (batch.length < batchSize || waiting.length === 0 || !isTimeLeft()) return;
    from = batch.at(-1)?.visitAt;
  }
}

/** Lists the items of one shard of the pending work that are to be visited from one moment to another, in ISO 8601. */
export async function listPending<Name extends PendingWorkName>(
  name: Name,
  shard: number,
  from: string,
  to: string,
): Promise<Key<ItemsWith[Name]>[]> {
  const range = { index: pendingWorkIndex, pk: pendingWorkOfShard(name, shard), from, to, limit: 250_000 };
  const listed: Listed[] = await queryItems(Listed, range);
  return listed.map(({ pk, sk }) => ({ pk, sk }));
}

async function sideBySide<Name extends PendingWorkName>(
  items: IterableIterator<Listed>,
  isTimeLeft: () => boolean,
  visit: PendingWork<Name>["visit"],
): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      // All share one iterator, so that a slow item does not delay the others.
      for (const { pk, sk } of items) {
        if (!isTimeLeft()) return;
        await visit({ pk, sk });
      }
    }),
  );
}
