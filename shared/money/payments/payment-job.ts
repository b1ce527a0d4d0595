import * as z from "zod/mini";

import { minuteMs, now } from "../../platform/clock.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { minScheduledMs, scheduledJob } from "../../platform/jobs/scheduled-job.ts";
import type { Put } from "../../platform/table/write.ts";
import type { ProviderNotice } from "./provider.ts";
import type { PaymentKey } from "./record.ts";

/** A job of the queue of payments. It only names a payment: the worker reads the state of the payment at the provider. */
export const PaymentJob = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("payment"), organizationId: z.string(), paymentId: z.string() }),
  /** A payment to make, because the balance fell below the threshold of auto-recharge. */
  z.object({ kind: z.literal("recharge"), organizationId: z.string(), paymentId: z.string() }),
  /** The end of a pause of auto-recharge. */
  z.object({ kind: z.literal("balance"), organizationId: z.string() }),
  /** A payment that only the provider can identify. */
  z.object({ kind: z.literal("notice"), providerPaymentId: z.string() }),
]);
export type PaymentJob = z.infer<typeof PaymentJob>;

/** Returns the job that brings a payment to the state that it has at the provider. */
export function paymentJob({ organizationId, paymentId }: PaymentKey): QueuedJob {
  const body: PaymentJob = { kind: "payment", organizationId, paymentId };
  return { queue: "payments", group: organizationId, body };
}

/** Returns the write that checks the balance against the threshold of auto-recharge, a minute after a moment or later. */
export function balanceCheck(organizationId: string, at: Date): Put {
  const body: PaymentJob = { kind: "balance", organizationId };
  const dueAt = new Date(Math.max(at.getTime() + minuteMs, now().getTime() + minScheduledMs)).toISOString();
  return scheduledJob(
    { id: `${organizationId}-balance`, dueAt },
    { queue: "payments", group: organizationId, body },
  );
}

/** Returns the job for a provider's notice; undefined if the notice names no payment. */
export function noticeJob(notice: ProviderNotice): QueuedJob | undefined {
  const { organizationId, paymentId, providerPaymentId } = notice;
  if (organizationId !== undefined && paymentId !== undefined)
    return paymentJob({ organizationId, paymentId });
  if (providerPaymentId === undefined) return undefined;
  const body: PaymentJob = { kind: "notice", providerPaymentId };
  return { queue: "payments", group: providerPaymentId, body };
}
