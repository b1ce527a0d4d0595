import { visitPayments } from "../../shared/money/payments/work.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { ShardOfWork } from "../../shared/platform/jobs/shards.ts";

export const handler = scheduled("payments.visited", async (event) =>
  visitPayments(ShardOfWork.parse(event).shard),
);
