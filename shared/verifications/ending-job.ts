import * as z from "zod/mini";

import type { QueuedJob } from "../platform/jobs/job.ts";
import { minScheduledMs, scheduledJob } from "../platform/jobs/scheduled-job.ts";
import type { Put } from "../platform/table/write.ts";
import type { VerificationRecord } from "./record.ts";

/** The job that completes the end of a verification: its expiry, the return of its fee, and its event. */
export const EndingJob = z.object({
  organizationId: z.string(),
  verificationId: z.string(),
  /** When the code expired as the job was stored. A later code of the caller's own stores another job. */
  validUntil: z.string(),
});
export type EndingJob = z.infer<typeof EndingJob>;

type Ending = Pick<VerificationRecord, "createdAt" | "id" | "organizationId" | "validUntil">;

/** The queue of refunds, whose function has access to wallets. */
export function endingJob({ organizationId, id, validUntil }: Omit<Ending, "createdAt">): QueuedJob {
  const body: EndingJob = { organizationId, verificationId: id, validUntil };
  return { queue: "refunds", group: organizationId, body };
}

/**
 * The write that completes the end of a verification once its code has expired, whatever happens until then. A webhook that is
 * registered meanwhile gets its event. The table holds only jobs that are due later than a queue can hold them.
 */
export function owedEnding(verification: Ending): Put {
  const { id, createdAt, validUntil } = verification;
  const dueAtMs = Math.max(Date.parse(validUntil), Date.parse(createdAt) + minScheduledMs);
  return scheduledJob(
    { id: `ending#${id}`, dueAt: new Date(dueAtMs).toISOString() },
    endingJob(verification),
  );
}
