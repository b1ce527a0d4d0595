import { log } from "../../shared/platform/log.ts";
import { reconcileWallets } from "../../shared/reconciliation/run.ts";

export const handler = async (): Promise<void> => {
  const { wallets } = await reconcileWallets();
  log.info("wallets.reconciled", { count: wallets });
};
