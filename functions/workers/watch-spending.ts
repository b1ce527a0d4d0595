import { watchSpending } from "../../shared/figures/operators/watch.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("spend.watched", async (event) =>
  watchSpending(ShardOfWork.parse(event).shard),
);
