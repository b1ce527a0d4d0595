import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import { log } from "../../shared/platform/log.ts";
import { reconcileWallets } from "../../shared/reconciliation/run.ts";

export const handler = async (event: unknown): Promise<void> => {
  const { shard } = ShardOfWork.parse(event);
  const { wallets } = await reconcileWallets(shard);
  log.info("wallets.reconciled", { count: wallets });
};
