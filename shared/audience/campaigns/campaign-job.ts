import * as z from "zod/mini";

import { minuteMs, now } from "../../platform/clock.ts";
import { maxDelaySeconds, secondsUntil, type QueuedJob } from "../../platform/jobs/job.ts";
import { scheduledJob, owedJob } from "../../platform/jobs/scheduled-job.ts";
import type { Put } from "../../platform/table/write.ts";

/** A job of the campaign queue. The campaign itself stays in the table. */
export const CampaignJob = z.object({
  organizationId: z.string(),
  campaignId: z.string(),
  /** Whether it waited in the table. Such a job schedules the next one until the campaign ends. */
  isScheduled: z.optional(z.boolean()),
});
export type CampaignJob = z.infer<typeof CampaignJob>;

/** The job that runs a campaign. */
export function campaignJob({ organizationId, campaignId }: CampaignJob, delaySeconds = 0): QueuedJob {
  return { ...queued({ organizationId, campaignId }), delaySeconds };
}

/**
 * The write that schedules a run of a campaign: at its time, or without one as the next check whether the campaign still
 * runs. It belongs in the transaction that makes the campaign due.
 */
export function scheduledRun({ organizationId, campaignId }: CampaignJob, startsAt?: string): Put {
  const id = `campaign#${campaignId}`;
  const job = queued({ organizationId, campaignId, isScheduled: true });
  if (startsAt !== undefined && secondsUntil(startsAt) > maxDelaySeconds) {
    return scheduledJob({ id, dueAt: startsAt }, job);
  }
  // Jobs of one campaign that are due in the same minute are one job, so a repeated launch adds none.
  return owedJob(id, job, new Date(Math.ceil(now().getTime() / minuteMs) * minuteMs));
}

function queued(job: CampaignJob): QueuedJob {
  return { queue: "campaigns", group: job.organizationId, body: job };
}
