import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("days.closed", async (event) => closeDays(ShardOfWork.parse(event).shard));
