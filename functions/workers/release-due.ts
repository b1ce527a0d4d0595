import { releaseDueJobs } from "../../shared/platform/jobs/release-due-jobs.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (event: unknown): Promise<void> => {
  const { shard } = ShardOfWork.parse(event);
  log.info("due_jobs.released", { count: await releaseDueJobs(shard) });
};
