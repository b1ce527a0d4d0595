import * as z from "zod";

import { keys } from "../platform/table/keys.ts";
import { findItem, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { listWalletsOfShard, walletListShards } from "./record.ts";

/** Wallets that are worked on side by side. */
const concurrency = 10;

const SweepRecord = z.object({
  entity: z.literal("walletSweep"),
  listShard: z.int(),
  lastWallet: z.string(),
});

export interface Sweep {
  /** Tells one kind of work from another. */
  readonly name: string;
  /** Whether a run may begin with more wallets; what is left has its turn in the next run. */
  readonly isTimeLeft: () => boolean;
  /** What is done for one organisation. It must not throw, or the ones behind it would not have their turn. */
  readonly visit: (organizationId: string) => Promise<void>;
}

/** Visits the organisations that have a wallet, from where the last run ended, until all have had their turn. */
export async function sweepWallets({ name, isTimeLeft, visit }: Sweep): Promise<void> {
  const progress = await findItem(SweepRecord, keys.walletSweep(name), { consistent: true });
  let shard = progress?.listShard ?? 0;
  let after = progress?.lastWallet ?? "";
  // The first shard may have been begun in its middle, so it is come back to.
  for (let shardsDone = 0; shardsDone <= walletListShards && isTimeLeft();) {
    const batch = await listWalletsOfShard(shard, {
      after: after === "" ? undefined : after,
      limit: concurrency,
    });
    await Promise.all(batch.map(visit));
    if (batch.length === concurrency) {
      after = batch.at(-1) ?? "";
    } else {
      shard = (shard + 1) % walletListShards;
      after = "";
      shardsDone += 1;
    }
    // Noted after each few wallets, so that a run that is cut off does not begin with the same ones again.
    await rememberProgress(name, shard, after);
  }
}

async function rememberProgress(name: string, listShard: number, lastWallet: string): Promise<void> {
  const set = { entity: "walletSweep", listShard, lastWallet };
  await updateItem(SweepRecord, updateOf(keys.walletSweep(name), { set }));
}
