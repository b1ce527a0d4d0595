import { createHash, randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { AwsRequest, AwsResponse } from "../../infra/local/local-aws.ts";

const Job = z.object({
  Id: z._default(z.string(), "0"),
  MessageBody: z.string(),
  MessageGroupId: z.string(),
  DelaySeconds: z._default(z.int(), 0),
});
export type Job = z.infer<typeof Job>;
const Batch = z.object({ QueueUrl: z.string(), Entries: z.array(Job) });
const Single = z.extend(Job, { QueueUrl: z.string() });

/** Reads the jobs of a request that puts them onto a queue. */
export function readJobs({ operation, body }: AwsRequest): {
  readonly QueueUrl: string;
  readonly isBatch: boolean;
  readonly jobs: readonly Job[];
} {
  const parsed: unknown = JSON.parse(body);
  const isBatch = operation === "sqs:SendMessageBatch";
  const { QueueUrl } = z.pick(Single, { QueueUrl: true }).parse(parsed);
  return { QueueUrl, isBatch, jobs: isBatch ? Batch.parse(parsed).Entries : [Single.parse(parsed)] };
}

/** Returns the response of a queue that accepted some jobs, and not others. */
export function responseTo(isBatch: boolean, taken: readonly Job[], failed: readonly Job[]): AwsResponse {
  const answers = taken.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: randomUUID(),
    MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
  }));
  const Failed = failed.map(({ Id }) => ({ Id, Code: "InternalError", SenderFault: false }));
  return {
    status: 200,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify(isBatch ? { Successful: answers, Failed } : answers[0]),
  };
}
