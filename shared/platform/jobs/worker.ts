import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type * as z from "zod";

import { log } from "../log.ts";

/**
 * The Lambda handler of a queue: parses each job of a batch and works on them side by side. The jobs that
 * throw are reported one by one, so the queue brings back those alone and parks them when it has tried enough.
 */
export function worker<Job>(
  schema: z.ZodType<Job>,
  work: (job: Job) => Promise<void>,
): (event: SQSEvent, context: Parameters<ReturnType<typeof middy>>[1]) => Promise<SQSBatchResponse> {
  return middy<SQSEvent, SQSBatchResponse>().handler(async ({ Records }) => {
    const results = await Promise.allSettled(
      Records.map(async ({ body }) => work(schema.parse(JSON.parse(body)))),
    );
    const batchItemFailures: SQSBatchResponse["batchItemFailures"] = [];
    for (const [index, record] of Records.entries()) {
      const result = results[index];
      if (result?.status !== "rejected") continue;
      batchItemFailures.push({ itemIdentifier: record.messageId });
      log.warn("job.failed", {
        queueMessageId: record.messageId,
        attempt: Number(record.attributes.ApproximateReceiveCount),
        error: result.reason,
      });
    }
    return { batchItemFailures };
  });
}
