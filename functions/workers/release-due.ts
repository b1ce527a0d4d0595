import { releaseDueJobs } from "../../shared/platform/jobs/release-due-jobs.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (): Promise<void> => {
  log.info("due_jobs.released", { count: await releaseDueJobs() });
};
