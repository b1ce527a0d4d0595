import * as z from "zod/mini";

import type { QueuedJob } from "../platform/jobs/job.ts";

/** The job that stores an inbound message. */
export const ReplyJob = z.object({
  kind: z.literal("reply"),
  reportId: z.string(),
  carrier: z.string(),
  carrierId: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  receivedAt: z.string(),
  /** The organizations that it is for, among those that share the number; undefined for all of them. */
  organizationIds: z.optional(z.readonly(z.array(z.string()))),
});
type ReplyJob = z.infer<typeof ReplyJob>;

/** Returns the job that stores an inbound message for some of the organizations that share its number. */
export function replyJob(reply: Omit<ReplyJob, "kind">): QueuedJob {
  const body: ReplyJob = { kind: "reply", ...reply };
  return { queue: "carrierCallbacks", group: reply.carrier, body };
}
