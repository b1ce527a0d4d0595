import * as z from "zod/mini";

import type { QueuedJob } from "../platform/jobs/job.ts";

/** That a carrier brings a message from a phone. */
export const ReplyJob = z.object({
  kind: z.literal("reply"),
  reportId: z.string(),
  carrier: z.string(),
  carrierId: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  receivedAt: z.string(),
  /** For which of those who share its number; without it, for all of them. */
  organizationIds: z.optional(z.readonly(z.array(z.string()))),
});
type ReplyJob = z.infer<typeof ReplyJob>;

/** The job that takes a message for some of those who share its number. */
export function replyJob(reply: Omit<ReplyJob, "kind">): QueuedJob {
  const body: ReplyJob = { kind: "reply", ...reply };
  return { queue: "carrierCallbacks", group: reply.carrier, body };
}
