import { releaseDueJobs } from "../../shared/platform/jobs/release-due-jobs.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("due_jobs.released", async (event) =>
  releaseDueJobs(ShardOfWork.parse(event).shard),
);
