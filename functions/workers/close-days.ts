import { closeDays } from "../../shared/dashboard/close-days.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = async (event: unknown): Promise<void> => {
  const { shard } = ShardOfWork.parse(event);
  log.info("days.closed", { count: await closeDays(shard) });
};
