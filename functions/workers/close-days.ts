import { closeDays } from "../../shared/dashboard/close-days.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (): Promise<void> => {
  log.info("days.closed", { count: await closeDays() });
};
