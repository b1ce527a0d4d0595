import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import { reconcileWallets } from "../../shared/reconciliation/run.ts";

export const handler = scheduled("wallets.reconciled", async (event) => {
  const { wallets } = await reconcileWallets(ShardOfWork.parse(event).shard);
  return wallets;
});
