import { ApiError } from "../contract/errors.ts";
import { now, secondMs } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { sweepWallets } from "../wallet/sweep.ts";
import { reconcileWallet, type Reconciliation } from "./reconcile.ts";

/** A run ends after this, with the function's time-out still ahead; the next run goes on where it ended. */
const runTimeMs = 40 * secondMs;

/**
 * Goes through the wallets, from where the last run ended, until all have had their turn or its time is over.
 * @returns what it did, summed up
 */
export async function reconcileWallets(): Promise<Done & { readonly wallets: number }> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  const total = { wallets: 0, sealed: 0, refundedMicros: 0, requeued: 0, failed: 0 };
  await sweepWallets({
    name: "reconcile",
    isTimeLeft,
    visit: async (organizationId) => {
      const result = await reconcileSafely(organizationId, isTimeLeft);
      total.wallets += 1;
      total.failed += result === undefined ? 1 : 0;
      total.sealed += result?.sealed ?? 0;
      total.refundedMicros += result?.refundedMicros ?? 0;
      total.requeued += result?.requeued ?? 0;
    },
  });
  const { wallets, sealed, refundedMicros, requeued, failed } = total;
  countMetrics({
    ReconciledWallets: wallets,
    SealedDebits: sealed,
    RefundedMicros: refundedMicros,
    RequeuedMessages: requeued,
    FailedReconciliations: failed,
  });
  return { wallets, sealed, refundedMicros, requeued };
}

type Done = Pick<Reconciliation, "refundedMicros" | "requeued" | "sealed">;

/** One wallet that cannot be reconciled now must not keep the others from their turn. */
async function reconcileSafely(organizationId: string, isTimeLeft: () => boolean): Promise<Done | undefined> {
  const done = { sealed: 0, refundedMicros: 0, requeued: 0 };
  try {
    for (let isUnfinished = true; isUnfinished && isTimeLeft();) {
      const pass = await reconcileWallet(organizationId);
      done.sealed += pass.sealed;
      done.refundedMicros += pass.refundedMicros;
      done.requeued += pass.requeued;
      ({ isUnfinished } = pass);
    }
  } catch (error) {
    // A wallet that has been closed since it was listed needs nothing.
    if (!(error instanceof ApiError && error.code === "WALLET_MISSING")) {
      log.error("wallet.reconciliation_failed", { organizationId, error });
      return undefined;
    }
  }
  if (done.sealed > 0 || done.requeued > 0) {
    log.warn("wallet.reconciled", {
      organizationId,
      count: done.sealed + done.requeued,
      amountMicros: done.refundedMicros,
    });
  }
  return done;
}
