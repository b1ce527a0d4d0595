import { now, secondMs } from "../../platform/clock.ts";
import { heldBackSeconds, isPaused } from "../../platform/jobs/pause.ts";
import { workOnPending } from "../../platform/jobs/pending-work.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { requestRecharge } from "../wallet/recharge.ts";
import { readWallet } from "../wallet/record.ts";
import type { PaymentJob } from "./payment-job.ts";
import { processPayment } from "./process.ts";
import type { ProviderNotice } from "./provider.ts";
import { cardProvider } from "./providers.ts";
import { startRecharge } from "./recharge.ts";
import type { PaymentKey } from "./record.ts";

/**
 * Works on a job of the queue of payments. During a pause the job returns to the queue.
 * @throws Error when the job has to be repeated
 */
export async function workOnPayment(job: PaymentJob): Promise<void> {
  if (await isPaused("payments")) {
    const group = job.kind === "notice" ? job.providerPaymentId : job.organizationId;
    return enqueue({ queue: "payments", group, body: job, delaySeconds: heldBackSeconds });
  }
  if (job.kind === "balance") return requestRecharge(await readWallet(job.organizationId));
  if (job.kind === "recharge") await startRecharge(job);
  const key = job.kind === "notice" ? await keyOf(job) : job;
  const processed = key === undefined ? undefined : await processPayment(key);
  // The operator's account at the provider may have payments of other products. A recharge may have been unnecessary.
  if (processed === undefined && job.kind !== "recharge") log.info("payment.unknown", { ...job });
}

/** Returns the names of the payment that a notice is about; undefined for one that the gateway did not make. */
export async function keyOf(notice: ProviderNotice): Promise<PaymentKey | undefined> {
  const { providerPaymentId } = notice;
  const isNamed = notice.organizationId !== undefined && notice.paymentId !== undefined;
  if (!isNamed && providerPaymentId === undefined) return undefined;
  const named = isNamed ? notice : await (await cardProvider()).identify(providerPaymentId ?? "");
  const { organizationId, paymentId } = named;
  return organizationId === undefined || paymentId === undefined ? undefined : { organizationId, paymentId };
}

/** A run ends after this time, before the function's time-out. The next run continues with the rest. */
const runTimeMs = 40 * secondMs;

/**
 * Visits the payments of a shard that are not final: those whose webhook was lost, that were abandoned, or whose processing
 * was interrupted.
 * @returns how many were visited
 */
export async function visitPayments(shard: number): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  let count = 0;
  await workOnPending({
    name: "PAYMENT",
    shard,
    isTimeLeft: () => now().getTime() < deadline,
    visit: async ({ pk, sk: paymentId }) => {
      count += 1;
      await processSafely({ organizationId: pk.slice("PAYMENTS#".length), paymentId });
    },
  });
  return count;
}

/** Processes a payment. An error must not keep the other payments from being processed. */
export async function processSafely(key: PaymentKey): Promise<void> {
  try {
    await processPayment(key);
  } catch (error) {
    log.error("payment.not_processed", { ...key, error });
    countMetrics({ FailedPayments: 1 });
  }
}
