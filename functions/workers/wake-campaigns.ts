import { wakeDueCampaigns } from "../../shared/campaigns/wake.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (): Promise<void> => {
  log.info("campaigns.woken", { count: await wakeDueCampaigns() });
};
