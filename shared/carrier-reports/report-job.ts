import * as z from "zod/mini";

import { DeliveryErrorCode } from "../contract/sms.ts";
import { ReplyJob } from "../inbound/reply-job.ts";
import { finalDeliveries } from "../messages/record.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { AwsNotification } from "./aws.ts";

/** The job that records the final delivery receipt of a message. */
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

/** A job with one receipt or inbound message from a carrier callback. */
const ReportJob = z.discriminatedUnion("kind", [ReceiptJob, ReplyJob]);
export type ReportJob = z.infer<typeof ReportJob>;

/** A job in the queue of carrier callbacks: from a call, or a notification that AWS itself has queued. */
export const QueuedReport = z.union([ReportJob, AwsNotification]);
export type QueuedReport = z.output<typeof QueuedReport>;

/** Returns the job that records a receipt or an inbound message. */
export function reportJob(report: ReportJob): QueuedJob {
  const group = report.kind === "receipt" ? report.organizationId : report.carrier;
  return { queue: "carrierCallbacks", group, body: report };
}
