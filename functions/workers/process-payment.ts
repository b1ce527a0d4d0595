import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(PaymentJob, workOnPayment);
