import middy from "@middy/core";
import sqsPartialBatchFailure from "@middy/sqs-partial-batch-failure";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord, SQSRecordAttributes } from "aws-lambda";
import type * as z from "zod/mini";

import { inCall } from "../call-context.ts";
import { log } from "../log.ts";
import { countFault, countMetrics, writeMetrics } from "../metrics.ts";
import { queuedAtAttribute, requestIdAttribute, ReturnsLater } from "./job.ts";

/** The circumstances of a job. */
export interface Delivery<Batch> {
  /** Returns the remaining time of the function. */
  readonly remainingTimeMs: () => number;
  /** When the job was first queued. */
  readonly queuedAt: Date;
  /** The value that `begin` returned for the batch of the job. */
  readonly batch: Batch | undefined;
  /** The sender of the job, and when it was sent, as SQS has noted them. */
  readonly sent: Pick<SQSRecordAttributes, "SenderId" | "SentTimestamp">;
}

interface BatchSteps<Result, Batch> {
  /** Makes what the jobs of one batch share. */
  readonly begin?: () => Batch;
  /** Receives the results of all jobs that did not throw. It must not throw. */
  readonly conclude?: (results: readonly Result[]) => Promise<void>;
}

/**
 * Returns the Lambda handler of a queue. It parses the jobs of a batch and works on them concurrently. It reports only the
 * failed jobs, so the queue delivers only these again, and parks them after hours of attempts.
 */
export function worker<Job, Result, Batch = undefined>(
  schema: z.ZodMiniType<Job>,
  work: (job: Job, delivery: Delivery<Batch>) => Promise<Result>,
  { begin, conclude }: BatchSteps<Result, Batch> = {},
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const handler = middy<SQSEvent, unknown>()
    // The first middleware is called last, after the failures have been counted.
    .use({ after: writeMetrics, onError: writeMetrics })
    .use(sqsPartialBatchFailure({ logger: logFailure }))
    .handler(async ({ Records }, context) => {
      const remainingTimeMs = (): number => context.getRemainingTimeInMillis();
      const batch = begin?.();
      const results = await Promise.allSettled(
        Records.map(async (record) =>
          inCall(
            async () =>
              work(schema.parse(JSON.parse(record.body)), {
                remainingTimeMs,
                queuedAt: firstQueuedAt(record),
                batch,
                sent: record.attributes,
              }),
            requestIdOf(record),
          ),
        ),
      );
      await conclude?.(results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
      return results;
    });
  // The middleware has converted the results to its report.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return handler as unknown as ReturnType<typeof worker>;
}

function requestIdOf({ messageAttributes }: Partial<SQSRecord>): string | undefined {
  return messageAttributes?.[requestIdAttribute]?.stringValue;
}

function firstQueuedAt({ attributes, messageAttributes = {} }: Partial<SQSRecord>): Date {
  const { stringValue = attributes?.SentTimestamp } = messageAttributes[queuedAtAttribute] ?? {};
  return new Date(Number(stringValue));
}

function logFailure(error: unknown, record: SQSRecord): void {
  const { messageId, attributes } = record;
  const attempt = Number(attributes.ApproximateReceiveCount);
  log.warn("job.failed", { requestId: requestIdOf(record), queueMessageId: messageId, attempt, error });
  if (!(error instanceof ReturnsLater)) countMetrics({ FailedJobs: 1 });
  countFault();
}
