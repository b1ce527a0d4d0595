import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";

import { queueNames } from "../shared/platform/jobs/queue-names.ts";
import type { Stage } from "./stages/stage.ts";
import { workers, type Worker } from "./workers.ts";

/** What AWS keeps of an account's concurrency for functions that have none reserved. */
const unreservedAtLeast = 100;
/** The part of what is not reserved that queues may take, so that there is always as much for requests. */
const shareOfWorkers = 0.5;
/** The least that Lambda takes for a queue. */
const leastOfQueue = 2;

/**
 * How many functions an account lets run at once in a region.
 * @throws Error that says what is missing, when AWS does not tell
 */
export async function concurrencyLimit(region: string | undefined): Promise<number> {
  const client = new LambdaClient(region === undefined ? {} : { region });
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
    if (AccountLimit?.ConcurrentExecutions === undefined) throw new Error("the answer has no limit");
    return AccountLimit.ConcurrentExecutions;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `How many functions the account lets run at once could not be read (${reason}). It takes lambda:GetAccountSettings, ` +
        "and credentials in the environment: AWS_PROFILE=name instead of --profile name.",
      { cause: error },
    );
  } finally {
    client.destroy();
  }
}

export interface FittedStage {
  readonly stage: Stage;
  /** What was changed, for the operator. */
  readonly warning?: string;
}

/**
 * A stage whose workers leave room for requests in an account that lets so many functions run at once: what its queues
 * ask for is scaled down together where that is too much.
 * @throws Error when the reservations do not fit; and on a stage that keeps data, when the least that Lambda takes for
 * its queues does not
 */
export function fitToAccount(stage: Stage, limit: number): FittedStage {
  const { name, reservedConcurrency, keepData } = stage;
  const here = `in this account, which lets ${limit} functions run at once`;
  const ask = "Ask AWS for more: aws service-quotas request-service-quota-increase --service-code lambda";
  const askFor = (calls: number): string => `${ask} --quota-code L-B99A9384 --desired-value ${calls}`;
  const reserved = total(Object.values(reservedConcurrency).map((calls = 0) => calls));
  if (reserved > 0 && limit - reserved < unreservedAtLeast) {
    throw new Error(
      `Stage ${name} reserves ${reserved} calls at once ${here}, and AWS keeps ${unreservedAtLeast} for all others: ` +
        `lower reservedConcurrency. ${askFor(reserved + unreservedAtLeast)}`,
    );
  }
  const feeds = Object.entries<Worker>(workers).flatMap(([worker, { queues = {} }]) =>
    queueNames.flatMap((queue) => {
      const feed = queues[queue];
      if (feed === undefined) return [];
      return [{ queue, worker, wanted: stage.workerConcurrency[queue] ?? feed.maxConcurrency }];
    }),
  );
  const workerConcurrency: Stage["workerConcurrency"] = {};
  // Workers with a reservation have its calls for themselves, all others share half of what is not reserved.
  const pools = Map.groupBy(feeds, ({ worker }) => (reservedConcurrency[worker] === undefined ? "" : worker));
  for (const [worker, pool] of pools) {
    const room = reservedConcurrency[worker] ?? Math.floor((limit - reserved) * shareOfWorkers);
    const least = pool.length * leastOfQueue;
    if (least > room && keepData) {
      throw new Error(
        `The ${pool.length} queues of ${worker === "" ? `stage ${name}` : worker} need ${least} calls at once, and there ` +
          `is room for ${room} of them ${here}. ${worker === "" ? askFor(500) : "Reserve more for it."}`,
      );
    }
    const wantedBeyond = total(pool.map(({ wanted }) => wanted)) - least;
    const scale = Math.min(1, Math.max(0, room - least) / Math.max(1, wantedBeyond));
    for (const { queue, wanted } of pool) {
      workerConcurrency[queue] = leastOfQueue + Math.floor((wanted - leastOfQueue) * scale);
    }
  }
  const scaled = feeds.filter(({ queue, wanted }) => workerConcurrency[queue] !== wanted);
  if (scaled.length === 0) return { stage };
  const changes = scaled.map(
    ({ queue, wanted }) => `${queue} ${workerConcurrency[queue]} instead of ${wanted}`,
  );
  const warning = `Fewer batches at once, to leave room for requests ${here}: ${changes.join(", ")}. ${askFor(1_000)}`;
  return { stage: { ...stage, workerConcurrency }, warning };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
