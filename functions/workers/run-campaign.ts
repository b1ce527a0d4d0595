import { CampaignJob } from "../../shared/audience/campaigns/campaign-job.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(CampaignJob, async (job) => runCampaign(job));
