import middy from "@middy/core";
import sqsPartialBatchFailure from "@middy/sqs-partial-batch-failure";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type * as z from "zod/mini";

import { log } from "../log.ts";
import { countFault, countMetrics, writeMetrics } from "../metrics.ts";
import { queuedAtAttribute } from "./job.ts";

/**
 * The Lambda handler of a queue: parses each job of a batch and works on them side by side. The jobs that
 * throw are reported one by one, so the queue brings back those alone and parks them when it has tried for hours.
 * @param work is given one job, how long the function can still run, when the job was put on its queue first, and what
 *   the jobs of its batch share
 * @param conclude is given what came of the jobs that did not throw, all at once; it must not throw itself
 * @param begin makes what the jobs of one batch share
 */
export function worker<Job, Result, Batch = undefined>(
  schema: z.ZodMiniType<Job>,
  work: (
    job: Job,
    remainingTimeMs: () => number,
    queuedAt: Date,
    batch: Batch | undefined,
  ) => Promise<Result>,
  conclude?: (results: readonly Result[]) => Promise<void>,
  begin?: () => Batch,
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const handler = middy<SQSEvent, unknown>()
    // What stands first is called last: by then the failures have been counted.
    .use({ after: writeMetrics, onError: writeMetrics })
    .use(sqsPartialBatchFailure({ logger: logFailure }))
    .handler(async ({ Records }, context) => {
      const remainingTimeMs = (): number => context.getRemainingTimeInMillis();
      const batch = begin?.();
      const results = await Promise.allSettled(
        Records.map(async (record) =>
          work(schema.parse(JSON.parse(record.body)), remainingTimeMs, firstQueuedAt(record), batch),
        ),
      );
      await conclude?.(results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
      return results;
    });
  // The middleware has made its report of the results.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return handler as unknown as ReturnType<typeof worker>;
}

function firstQueuedAt({ attributes, messageAttributes = {} }: Partial<SQSRecord>): Date {
  const { stringValue = attributes?.SentTimestamp } = messageAttributes[queuedAtAttribute] ?? {};
  return new Date(Number(stringValue));
}

function logFailure(error: unknown, { messageId, attributes }: SQSRecord): void {
  const attempt = Number(attributes.ApproximateReceiveCount);
  log.warn("job.failed", { queueMessageId: messageId, attempt, error });
  countMetrics({ FailedJobs: 1 });
  countFault();
}
