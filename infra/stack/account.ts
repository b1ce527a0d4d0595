import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";

import { queueNames } from "../../shared/platform/queue-names.ts";
import type { Stage } from "./stages/stage.ts";
import type { Worker } from "./worker.ts";
import { workers } from "./workers.ts";

/** The part of an account's concurrency that AWS keeps for functions without a reservation. */
const unreservedAtLeast = 100;
/** The share of the unreserved concurrency for queues: the other half stays for requests. */
const shareOfWorkers = 0.5;
/** The smallest concurrency of a queue that Lambda accepts. */
const leastOfQueue = 2;

/**
 * Reads the limit of concurrent calls of an account in a region.
 * @throws Error with what is missing, when AWS does not return it
 */
export async function concurrencyLimit(region: string | undefined): Promise<number> {
  const client = new LambdaClient(region === undefined ? {} : { region });
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
    if (AccountLimit?.ConcurrentExecutions === undefined) throw new Error("the response has no limit");
    return AccountLimit.ConcurrentExecutions;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The account's limit of concurrent calls could not be read (${reason}). It needs lambda:GetAccountSettings, ` +
        "and credentials in the environment: AWS_PROFILE=name instead of --profile name.",
      { cause: error },
    );
  } finally {
    client.destroy();
  }
}

export interface FittedStage {
  readonly stage: Stage;
  /** The changes, for the operator. */
  readonly warning?: string;
}

/**
 * Returns a stage whose workers leave concurrency for requests, within the account's limit of concurrent calls. It
 * scales down the concurrency of all queues together where it is too high. It leaves out reservations that do not fit, because
 * AWS would reject them in the middle of a deployment.
 * @throws Error when the least concurrency of queues does not fit a reservation, or a stage that keeps data
 */
export function fitToAccount(stageOfFile: Stage, limit: number): FittedStage {
  const here = `in this account, whose limit is ${limit} concurrent calls`;
  const ask = "Request more: aws service-quotas request-service-quota-increase --service-code lambda";
  const askFor = (calls: number): string => `${ask} --quota-code L-B99A9384 --desired-value ${calls}`;
  const sumOfFile = total(Object.values(stageOfFile.reservedConcurrency).map((calls = 0) => calls));
  const isFitting = sumOfFile === 0 || limit - sumOfFile >= unreservedAtLeast;
  const stage = isFitting ? stageOfFile : { ...stageOfFile, reservedConcurrency: {} };
  const { name, reservedConcurrency, keepData } = stage;
  const reserved = isFitting ? sumOfFile : 0;
  const leftOut = isFitting
    ? ""
    : `No reservedConcurrency: stage ${name} reserves ${sumOfFile} concurrent calls ${here}, and AWS keeps ` +
      `${unreservedAtLeast} for all others. Deploy again after the increase. `;
  const feeds = Object.entries<Worker>(workers).flatMap(([worker, { queues = {} }]) =>
    queueNames.flatMap((queue) => {
      const feed = queues[queue];
      if (feed === undefined) return [];
      return [{ queue, worker, wanted: stage.workerConcurrency[queue] ?? feed.maxConcurrency }];
    }),
  );
  const workerConcurrency: Stage["workerConcurrency"] = {};
  // Workers with a reservation have its calls for themselves, all others share half of the unreserved ones.
  const pools = Map.groupBy(feeds, ({ worker }) => (reservedConcurrency[worker] === undefined ? "" : worker));
  for (const [worker, pool] of pools) {
    const room = reservedConcurrency[worker] ?? Math.floor((limit - reserved) * shareOfWorkers);
    const least = pool.length * leastOfQueue;
    if (least > room && keepData) {
      throw new Error(
        `The ${pool.length} queues of ${worker === "" ? `stage ${name}` : worker} need ${least} concurrent calls, and only ` +
          `${room} are available ${here}. ${worker === "" ? askFor(500) : "Reserve more for it."}`,
      );
    }
    const wantedBeyond = total(pool.map(({ wanted }) => wanted)) - least;
    const scale = Math.min(1, Math.max(0, room - least) / Math.max(1, wantedBeyond));
    for (const { queue, wanted } of pool) {
      workerConcurrency[queue] = leastOfQueue + Math.floor((wanted - leastOfQueue) * scale);
    }
  }
  const scaled = feeds.filter(({ queue, wanted }) => workerConcurrency[queue] !== wanted);
  const increase = askFor(Math.max(1_000, sumOfFile + unreservedAtLeast));
  if (scaled.length === 0) return isFitting ? { stage } : { stage, warning: leftOut + increase };
  const changes = scaled.map(
    ({ queue, wanted }) => `${queue} ${workerConcurrency[queue]} instead of ${wanted}`,
  );
  const warning = `${leftOut}Fewer concurrent batches, so that requests have calls ${here}: ${changes.join(", ")}. ${increase}`;
  return { stage: { ...stage, workerConcurrency }, warning };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
