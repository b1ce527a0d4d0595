import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { campaignJob, type CampaignJob } from "./campaign-job.ts";

/** Requests the first run of a campaign. Where the queue is down, its scheduled job starts it later. */
export async function requestFirstRun(job: CampaignJob, delaySeconds = 0): Promise<void> {
  try {
    await enqueue(campaignJob(job, delaySeconds));
  } catch (error) {
    log.error("campaign.enqueue_failed", { ...job, error });
  }
}
