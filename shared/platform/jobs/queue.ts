import { SendMessageBatchCommand, SendMessageCommand, Sqs } from "../aws/sqs.ts";
import { causingRequestId } from "../call-context.ts";
import { config } from "../config.ts";
import { inParts } from "../in-parts.ts";
import type { QueueName } from "../queue-names.ts";
import { requestIdAttribute, type QueuedJob } from "./job.ts";

/** The most messages in one call of SQS. */
const maxBatch = 10;

/** The most calls at the same time: those of a block of a campaign, twice. */
const maxCallsTogether = 10;

const client = new Sqs();

/** Sends one job to its queue. It may arrive more than once. */
export async function enqueue(job: QueuedJob): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: config.queueUrl(job.queue), ...message(job) }));
}

/**
 * Sends jobs to their queues, ten a call and several calls at the same time.
 * @throws Error when a queue did not accept one of them; others may be on their queues
 */
export async function enqueueAll(jobs: readonly QueuedJob[]): Promise<void> {
  const batches = [...Map.groupBy(jobs, ({ queue }) => queue)].flatMap(([queue, ofQueue]) =>
    inParts(ofQueue, maxBatch).map((part) => ({ queue, part })),
  );
  for (const together of inParts(batches, maxCallsTogether)) {
    const calls = together.map(async ({ queue, part }) => enqueueBatch(queue, part));
    const failed = (await Promise.allSettled(calls)).find((call) => call.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

async function enqueueBatch(queue: QueueName, jobs: readonly QueuedJob[]): Promise<void> {
  const Entries = jobs.map((job, index) => ({ Id: String(index), ...message(job) }));
  const { Failed } = await client.send(
    new SendMessageBatchCommand({ QueueUrl: config.queueUrl(queue), Entries }),
  );
  if (Failed?.[0] !== undefined) throw new Error(`${queue} rejected a job: ${Failed[0].Code}`);
}

/** A job as SQS receives it. */
interface SqsMessage {
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly DelaySeconds?: number;
  readonly MessageAttributes?: Readonly<Record<string, { DataType: "String"; StringValue: string }>>;
}

function message(job: QueuedJob): SqsMessage {
  const requestId = causingRequestId();
  return {
    MessageBody: JSON.stringify(job.body),
    MessageGroupId: job.group,
    ...(job.delaySeconds === undefined ? {} : { DelaySeconds: job.delaySeconds }),
    ...(requestId === undefined
      ? {}
      : { MessageAttributes: { [requestIdAttribute]: { DataType: "String", StringValue: requestId } } }),
  };
}
