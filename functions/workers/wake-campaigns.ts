import { wakeDueCampaigns } from "../../shared/campaigns/wake.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("campaigns.woken", wakeDueCampaigns);
