import { hourMs, minuteMs, now } from "../../platform/clock.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { PaymentRecord, visitFields } from "./record.ts";

/** The shortest and longest time between two visits of a payment that is not final. It grows with the age of the payment. */
const minVisitMs = 2 * minuteMs;
export const maxVisitMs = 12 * hourMs;

/** The longest time until the visit after an error. The alarm lasts as long as visits fail. */
export const maxRetryMs = 4 * minuteMs;

/**
 * Sets the time of the next visit, or removes a final payment from the pending work.
 * @param retryMs the longest time until the visit of a payment that could not be processed now
 */
export async function scheduleVisit(payment: PaymentRecord, retryMs = Infinity): Promise<void> {
  if (isFinal(payment) && retryMs === Infinity) return endVisits(payment);
  const visitMs = Math.min(nextVisitMs(payment), now().getTime() + retryMs);
  await changeVisit(payment, { set: visitFields(payment, new Date(visitMs).toISOString()) });
}

/** Removes a payment from the pending work, unless another change came first. */
export async function endVisits(payment: PaymentRecord): Promise<void> {
  await changeVisit(payment, { remove: ["pendingWork", "visitAt"] });
}

/** Changes the time of the next visit, unless another change came first, which has its own time. */
async function changeVisit(
  { organizationId, id, version }: PaymentRecord,
  changes: Changes<"payment">,
): Promise<void> {
  await updateItem(PaymentRecord, updateOf(keys.payment(organizationId, id), changes, { is: { version } }));
}

/** Returns when to visit a payment again: after half of its age, and soon after its checkout expires. */
function nextVisitMs({ createdAt, checkoutExpiresAt = createdAt }: PaymentRecord): number {
  const nowMs = now().getTime();
  const ageMs = nowMs - Date.parse(createdAt);
  const next = nowMs + Math.min(Math.max(ageMs / 2, minVisitMs), maxVisitMs);
  const expiry = Date.parse(checkoutExpiresAt) + minVisitMs;
  return expiry > nowMs ? Math.min(next, expiry) : next;
}

/** Whether nothing is expected to change a payment any more. Refunds and disputes of final payments arrive as events. */
function isFinal({ status, provider, feeAt, refunds, disputes, unstored }: PaymentRecord): boolean {
  if (status === "pending") return false;
  if (status !== "succeeded") return true;
  const isFeeKnown = provider === "manual" || feeAt !== undefined;
  const isSettled = refunds.every((refund) => refund.status !== "pending");
  return isFeeKnown && isSettled && disputes.every((each) => each.status !== "open") && unstored.length === 0;
}
