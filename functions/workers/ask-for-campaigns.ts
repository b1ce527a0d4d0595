import { askForDueRuns } from "../../shared/campaigns/due.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (): Promise<void> => {
  log.info("campaigns.asked_for", { count: await askForDueRuns() });
};
