import { heldBackSeconds, isPaused } from "../../platform/jobs/pause.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { requestRecharge } from "../wallet/recharge.ts";
import { readWallet } from "../wallet/record.ts";
import type { PaymentJob } from "./payment-job.ts";
import { processPayment } from "./process.ts";
import { startRecharge } from "./recharge.ts";
import { keyOf } from "./reconcile.ts";

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
