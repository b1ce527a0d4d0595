import * as z from "zod/mini";

import { DeliveryErrorCode } from "../../api/contract/sms.ts";
import type { Fields } from "../../carriers/callback-reader.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { InboundMessageJob, TestInboundJob } from "../inbound/inbound-message-job.ts";
import { finalDeliveries } from "../message/record.ts";

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
const CallbackJob = z.discriminatedUnion("kind", [ReceiptJob, InboundMessageJob, TestInboundJob]);
export type CallbackJob = z.infer<typeof CallbackJob>;

/**
 * A notification that AWS itself adds to the queue of carrier callbacks. Fields with a `kind` are a job of the gateway.
 * An unreadable job must not pass for a notification.
 */
const AwsNotification = z.pipe(
  z.record(z.string(), z.unknown()).check(z.refine((fields) => !("kind" in fields))),
  z.transform((fields: Fields) => ({ kind: "aws" as const, fields })),
);

/** A job in the queue of carrier callbacks: from a call, or a notification that AWS itself has queued. */
export const QueuedCallback = z.union([CallbackJob, AwsNotification]);
export type QueuedCallback = z.output<typeof QueuedCallback>;

/** Returns the job that records a receipt or an inbound message. */
export function callbackJob(callback: CallbackJob): QueuedJob {
  const group = callback.kind === "inbound" ? callback.carrier : callback.organizationId;
  return { queue: "carrierCallbacks", group, body: callback };
}
