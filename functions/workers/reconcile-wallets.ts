import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("wallets.reconciled", async (event) => {
  const { wallets } = await reconcileWallets(ShardOfWork.parse(event).shard);
  return wallets;
});
