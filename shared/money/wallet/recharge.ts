import { hourMs, now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { owedJob } from "../../platform/jobs/scheduled-job.ts";
import { field } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { updateOf } from "../../platform/table/write.ts";
import { notifyLowBalance } from "./notify.ts";
import type { WalletRecord } from "./record.ts";

/** Returns the job that makes the payment of a recharge. */
function rechargeJob(organizationId: string, paymentId: string): QueuedJob {
  return { queue: "payments", group: organizationId, body: { kind: "recharge", organizationId, paymentId } };
}

/**
 * Starts a recharge when the balance is below the customer's threshold. The wallet names the payment until it ends, so that
 * one crossing of the threshold causes one payment. If it fails, the next debit or pass of the reconciler repeats it. A job
 * that was lost before its payment was stored is queued again after an hour.
 * @throws Error when the recharge cannot be stored now
 */
export async function requestRecharge(wallet: WalletRecord): Promise<void> {
  const {
    organizationId,
    balanceMicros,
    rechargeBelowMicros = 0,
    rechargeId,
    rechargeNotBefore = "",
    rechargeJobAt = "",
  } = wallet;
  const at = now().toISOString();
  if (balanceMicros >= rechargeBelowMicros || at < rechargeNotBefore) return;
  const anHourAgo = new Date(now().getTime() - hourMs).toISOString();
  if (rechargeId !== undefined && rechargeJobAt > anHourAgo) return;
  // A customer whose bank took money back pays themselves.
  if (balanceMicros < 0) return;
  const paymentId = rechargeId ?? newId("pay");
  const note = updateOf(
    keys.wallet(organizationId),
    { set: { rechargeId: paymentId, rechargeJobAt: at } },
    rechargeId === undefined
      ? {
          absent: ["rechargeId", "closedAt", "suspendedAt"],
          atLeast: { balanceMicros: 0 },
          below: { balanceMicros: field("rechargeBelowMicros") },
          ifPresent: { atMost: { rechargeNotBefore: at } },
        }
      : { is: { rechargeId }, ifPresent: { atMost: { rechargeJobAt: anHourAgo } } },
  );
  const job = rechargeJob(organizationId, paymentId);
  const { outcome } = await transact({ note, job: owedJob(paymentId, job) });
  if (outcome === "committed") await enqueue(job);
}

/**
 * Notifies the customer of a low balance, and starts a recharge.
 * @throws Error when one of them cannot be stored now
 */
export async function watchBalance(wallet: WalletRecord): Promise<void> {
  await Promise.all([notifyLowBalance(wallet), requestRecharge(wallet)]);
}
