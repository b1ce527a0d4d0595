import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("due_jobs.released", async (event) =>
  releaseScheduledJobs(ShardOfWork.parse(event).shard),
);
