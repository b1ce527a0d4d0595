import { noticeOf, paymentsCompared } from "../../shared/figures/operators/record.ts";
import { comparePayments } from "../../shared/money/payments/compare.ts";
import { dayOf, now } from "../../shared/platform/clock.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";

export const handler = scheduled("payments.compared", async () => {
  const day = dayOf(now().toISOString());
  const differences = await comparePayments();
  for (const {
    difference,
    organizationId,
    providerPaymentId,
    paymentId = providerPaymentId,
  } of differences) {
    const { key, record } = noticeOf({ what: `payment ${difference}`, organizationId, paymentId }, day);
    await putItem(putOf(key, record));
  }
  // Written last: it states that the notices of the day are complete.
  const { key, record } = noticeOf({ what: paymentsCompared }, day);
  await putItem(putOf(key, record));
  return differences.length;
});
