import { PaymentJob } from "../../shared/payments/payment-job.ts";
import { workOnPayment } from "../../shared/payments/work.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(PaymentJob, workOnPayment);
