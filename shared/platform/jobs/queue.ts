import { SendMessageBatchCommand, SendMessageCommand, Sqs } from "../aws/sqs.ts";
import { causingRequestId } from "../call-context.ts";
import { config } from "../config.ts";
import type { QueueName } from "../queue-names.ts";
import { requestIdAttribute, type QueuedJob } from "./job.ts";

/** The most messages in one call of SQS. */
const maxBatch = 10;

const client = new Sqs();

/** Sends one job to its queue. It may arrive more than once. */
export async function enqueue(job: QueuedJob): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: config.queueUrl(job.queue), ...message(job) }));
}

/**
 * Sends jobs to their queues, ten a call.
 * @throws Error when a queue did not accept one of them; the jobs before it are on the queue
 */
export async function enqueueAll(jobs: readonly QueuedJob[]): Promise<void> {
  for (const [queue, ofQueue] of Map.groupBy(jobs, (job) => job.queue)) await enqueueOn(queue, ofQueue);
}

async function enqueueOn(queue: QueueName, jobs: readonly QueuedJob[]): Promise<void> {
  for (let start = 0; start < jobs.length; start += maxBatch) {
    const Entries = jobs.slice(start, start + maxBatch).map((job, index) => ({
      Id: String(index),
      ...message(job),
    }));
    const { Failed } = await client.send(
      new SendMessageBatchCommand({ QueueUrl: config.queueUrl(queue), Entries }),
    );
    if (Failed?.[0] !== undefined) throw new Error(`${queue} rejected a job: ${Failed[0].Code}`);
  }
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
