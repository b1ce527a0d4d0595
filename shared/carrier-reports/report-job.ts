import * as z from "zod/mini";

import { DeliveryErrorCode } from "../contract/sms.ts";
import { ReplyJob } from "../inbound/reply-job.ts";
import { finalDeliveries } from "../messages/record.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { AwsNotification } from "./aws.ts";

/** That a carrier says what has become of a message at last. */
const ReceiptJob = z.object({
  kind: z.literal("receipt"),
  carrier: z.string(),
  organizationId: z.string(),
  messageId: z.string(),
  status: z.enum(finalDeliveries),
  errorCode: z.optional(DeliveryErrorCode),
  providerCode: z.optional(z.string()),
  at: z.string(),
});

/** What a call of a carrier has become, once it is understood. */
const ReportJob = z.discriminatedUnion("kind", [ReceiptJob, ReplyJob]);
export type ReportJob = z.infer<typeof ReportJob>;

/** What the queue of reports carries: those of calls, and what AWS itself puts there. */
export const QueuedReport = z.union([ReportJob, AwsNotification]);
export type QueuedReport = z.output<typeof QueuedReport>;

/** The job that records a report. */
export function reportJob(report: ReportJob): QueuedJob {
  const group = report.kind === "receipt" ? report.organizationId : report.carrier;
  return { queue: "carrierCallbacks", group, body: report };
}
