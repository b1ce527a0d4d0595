import { comparePayments } from "../../shared/money/payments/reconcile.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("payments.compared", async () => (await comparePayments()).length);
