import { CampaignJob } from "../../shared/campaigns/campaign-job.ts";
import { runCampaign } from "../../shared/campaigns/run.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(CampaignJob, async (job) => runCampaign(job));
