import type { QueuedEmail } from "../../notices/emails/email-job.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import { type Step, stepOf, untilUndisturbed } from "../../platform/table/transact.ts";
import { updateItem, type Write } from "../../platform/table/write.ts";
import { PaymentRecord, paymentUpdate, readPayment, type PaymentKey } from "./record.ts";

/*
 * The steps of a payment. A step decides by the payment as it is, and its one write or transaction requires the version that
 * it saw. So a step is applied once, whatever other workers do at the same time. A repeated step has the same result.
 */

/**
 * Applies a step to the payment as it is now. After another change in between, it begins again with another read.
 * @throws ApiError NOT_FOUND; UNAVAILABLE when another change came first every time
 */
export async function applyStep<Result>(
  key: PaymentKey,
  step: (payment: PaymentRecord) => Promise<Result | "disturbed">,
): Promise<Result> {
  return untilUndisturbed(async () => step(await readPayment(key)));
}

/** Changes a payment without a movement of money. */
export async function changePayment(payment: PaymentRecord, changes: Partial<PaymentRecord>): Promise<Step> {
  const updated = await updateItem(PaymentRecord, paymentUpdate(payment, changes));
  return stepOf(updated.applied);
}

/** Writes the items of a step, all or nothing. Then it queues the emails that the transaction owes. */
export async function writeStep(
  writes: Readonly<Record<string, Write | readonly Write[]>>,
  emails: readonly QueuedEmail[] = [],
): Promise<Step> {
  const { outcome } = await transactWithEmails(emails, writes);
  return stepOf(outcome === "committed");
}
