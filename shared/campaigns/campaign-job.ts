import * as z from "zod/mini";

import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";

/** What the queue of campaigns carries: the campaign itself stays in the table. */
export const CampaignJob = z.object({ organizationId: z.string(), campaignId: z.string() });
export type CampaignJob = z.infer<typeof CampaignJob>;

/** Asks for a run of a campaign. Where the queue is down, the next look for due campaigns asks again. */
export async function wakeCampaign(job: CampaignJob, delaySeconds = 0): Promise<void> {
  try {
    await enqueue({ queue: "campaigns", group: job.organizationId, body: job, delaySeconds });
  } catch (error) {
    log.error("campaign.enqueue_failed", { ...job, error });
  }
}
