import { ApiError } from "../contract/errors.ts";
import { now, secondMs } from "../platform/clock.ts";
import { workOnPending } from "../platform/jobs/pending-work.ts";
import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { reconcileWallet, type Reconciliation } from "./reconcile.ts";

/** A run ends after this, with the function's time-out still ahead; the next run goes on with what is left. */
const runTimeMs = 40 * secondMs;

/**
 * Goes through the wallets of a shard that have something to settle, until all have had their turn or its time is over.
 * @returns what it did, summed up
 */
export async function reconcileWallets(shard: number): Promise<Total> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  const total = { wallets: 0, sealed: 0, refundedMicros: 0, requeued: 0, failed: 0, inconsistencies: 0 };
  await workOnPending({
    name: "SETTLE",
    shard,
    isTimeLeft,
    visit: async ({ pk }) => {
      const result = await reconcileSafely(pk.slice("WALLET#".length), isTimeLeft);
      total.wallets += 1;
      total.failed += result === undefined ? 1 : 0;
      total.inconsistencies += result?.inconsistencies ?? 0;
      total.sealed += result?.sealed ?? 0;
      total.refundedMicros += result?.refundedMicros ?? 0;
      total.requeued += result?.requeued ?? 0;
    },
  });
  const { sealed, refundedMicros, requeued, failed, inconsistencies } = total;
  // A round that looked at nothing has nothing to say.
  if (total.wallets > 0) {
    countMetrics({
      VoidedDebits: sealed,
      RefundedMicros: refundedMicros,
      RequeuedMessages: requeued,
      FailedReconciliations: failed,
      InconsistentLedgers: inconsistencies,
    });
  }
  return total;
}

interface Total extends Done {
  readonly wallets: number;
  /** Wallets that could not be reconciled. */
  readonly failed: number;
}

type Done = Omit<Reconciliation, "isUnfinished">;

/** One wallet that cannot be reconciled now must not keep the others from their turn. */
async function reconcileSafely(organizationId: string, isTimeLeft: () => boolean): Promise<Done | undefined> {
  const done = { sealed: 0, refundedMicros: 0, requeued: 0, inconsistencies: 0 };
  try {
    for (let isUnfinished = true; isUnfinished && isTimeLeft();) {
      const pass = await reconcileWallet(organizationId);
      done.sealed += pass.sealed;
      done.refundedMicros += pass.refundedMicros;
      done.requeued += pass.requeued;
      done.inconsistencies += pass.inconsistencies;
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
