import { now, secondMs } from "../../platform/clock.ts";
import { workOnPending } from "../../platform/jobs/pending-work.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { reconcileWallet, type Reconciliation } from "./reconcile.ts";

/** The duration of a run, which is shorter than the function's time-out. The next run continues with the rest. */
const runTimeMs = 40 * secondMs;

/**
 * Reconciles the wallets of a shard that have something to settle, until all are processed or its time is over.
 * @returns the totals
 */
export async function reconcileWallets(shard: number): Promise<Total> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  const total = { wallets: 0, voided: 0, refundedMicros: 0, requeued: 0, failed: 0, inconsistencies: 0 };
  await workOnPending({
    name: "SETTLE",
    shard,
    isTimeLeft,
    visit: async ({ pk }) => {
      const result = await reconcileSafely(pk.slice("WALLET#".length), isTimeLeft);
      total.wallets += 1;
      total.failed += result === undefined ? 1 : 0;
      total.inconsistencies += result?.inconsistencies ?? 0;
      total.voided += result?.voided ?? 0;
      total.refundedMicros += result?.refundedMicros ?? 0;
      total.requeued += result?.requeued ?? 0;
    },
  });
  const { voided, refundedMicros, requeued, failed, inconsistencies } = total;
  if (total.wallets > 0) {
    countMetrics({
      VoidedDebits: voided,
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
  /** The number of wallets that could not be reconciled. */
  readonly failed: number;
}

type Done = Omit<Reconciliation, "isUnfinished">;

/** Reconciles one wallet. An error is logged, so that it does not stop the other wallets. */
async function reconcileSafely(organizationId: string, isTimeLeft: () => boolean): Promise<Done | undefined> {
  const done = { voided: 0, refundedMicros: 0, requeued: 0, inconsistencies: 0 };
  try {
    for (let isUnfinished = true; isUnfinished && isTimeLeft();) {
      const pass = await reconcileWallet(organizationId);
      // The wallet was deleted after it had been listed.
      if (pass === undefined) break;
      done.voided += pass.voided;
      done.refundedMicros += pass.refundedMicros;
      done.requeued += pass.requeued;
      done.inconsistencies += pass.inconsistencies;
      ({ isUnfinished } = pass);
    }
  } catch (error) {
    log.error("wallet.reconciliation_failed", { organizationId, error });
    return undefined;
  }
  if (done.voided > 0 || done.requeued > 0) {
    log.warn("wallet.reconciled", {
      organizationId,
      count: done.voided + done.requeued,
      amountMicros: done.refundedMicros,
    });
  }
  return done;
}
