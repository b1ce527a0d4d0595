import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  type Message,
} from "@aws-sdk/client-sqs";
import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import * as z from "zod/mini";

import { queuedAtAttribute, requestIdAttribute } from "../../shared/platform/jobs/job.ts";
import { queueNames, type QueueName } from "../../shared/platform/queue-names.ts";
import { command, limit, part } from "./command.ts";
import type { Context } from "./context.ts";

/** Uses the configured endpoint, not the host in a queue's URL. */
const client = new SQSClient({ useQueueUrlAsEndpoint: false });

/** The number of messages in one call to SQS. */
const batchSize = 10;

/** How long a received job is hidden from other receivers. */
const hiddenSeconds = 60;

/** Long polling: only a receive that waits queries all servers of the queue. */
const waitSeconds = 1;

const maxMoved = 100_000;

const queueRule = `must be one of ${queueNames.join(", ")}`;
const Queue = z.enum(queueNames, queueRule);

/** A parked job, as the operator sees it. */
interface ParkedJob {
  readonly id: string;
  readonly queuedAt: string;
  readonly receiveCount: number;
  /** The IDs in it. Its other contents may be personal data. */
  readonly ids: readonly string[];
}

const list = command({
  name: "dead-letters list",
  summary: "List dead-letter queues and the impact on customers, or the jobs of one queue",
  examples: ["", "--queue refunds --stage prod"],
  input: z.object({
    queue: part("--queue <name>", "list the parked jobs of this queue", z.optional(Queue)),
    limit: limit(100, 1_000, "jobs"),
  }),
  run: async ({ queue, limit: wanted }, context) => {
    if (queue === undefined) await listQueues(context);
    else await listJobs(context, queue, wanted);
  },
});

async function listQueues({ output, stackOutput }: Context): Promise<void> {
  const rows = await Promise.all(
    queueNames.map(async (queue) => {
      const { value, description = "" } = stackOutput(outputNames.deadLetterQueueUrl(queue));
      return { queue, parked: await countParked(value), meaning: description };
    }),
  );
  output.table(rows, {
    QUEUE: "queue",
    PARKED: "parked",
    // The other sentences describe what to do.
    IMPACT: ({ meaning }) => meaning.split(". ")[0],
  });
}

async function listJobs({ output, stackOutput }: Context, queue: QueueName, wanted: number): Promise<void> {
  const { value: url, description = "" } = stackOutput(outputNames.deadLetterQueueUrl(queue));
  output.note(description);
  const held: Message[] = [];
  try {
    // A received job is hidden, so that the next receive returns others.
    while (held.length < wanted) {
      const messages = await receive(url, Math.min(batchSize, wanted - held.length));
      if (messages.length === 0) break;
      held.push(...messages);
      output.progress(`${held.length} jobs read`);
    }
  } finally {
    await showAgain(url, held);
  }
  const jobs = held
    .map((message): ParkedJob => ({
      id: message.MessageId ?? "",
      queuedAt: new Date(Number(message.Attributes?.SentTimestamp)).toISOString(),
      receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
      ids: [...new Set(message.Body?.match(/\b[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}\b/g))],
    }))
    .toSorted((one, other) => one.queuedAt.localeCompare(other.queuedAt));
  output.table(jobs, {
    QUEUED: "queuedAt",
    AGE: ({ queuedAt }) => ageText(queuedAt),
    RECEIVES: "receiveCount",
    JOB: "id",
    IDS: ({ ids }) => ids.join(" "),
  });
  output.note(`${jobs.length} jobs`);
}

const redrive = command({
  name: "dead-letters redrive",
  summary: "Move parked jobs back to their queue, once the cause is fixed",
  details:
    "Each job is added to its queue before it is removed from the dead-letter queue. An interruption can duplicate a job, " +
    "which is harmless, but never lose one.",
  examples: ["refunds", "transactionalSends --limit 10 --stage prod"],
  asksFirst: true,
  input: z.object({
    queue: part("<queue>", "name of the queue, as shown by dead-letters list", Queue),
    limit: limit(maxMoved, maxMoved, "jobs"),
  }),
  run: async ({ queue, limit: wanted }, { output, stackOutput, confirm }) => {
    const from = stackOutput(outputNames.deadLetterQueueUrl(queue)).value;
    const to = stackOutput(outputNames.queueUrl(queue)).value;
    const parked = await countParked(from);
    await confirm(`move ${Math.min(parked, wanted)} of about ${parked} parked jobs back to ${queue}`);
    let moved = 0;
    while (moved < wanted) {
      const messages = await receive(from, Math.min(batchSize, wanted - moved));
      if (messages.length === 0) break;
      moved += await move(messages, from, to);
      output.progress(`${moved} of about ${parked} jobs moved`);
    }
    const left = await countParked(from);
    output.result({ queue, moved, left }, `${moved} jobs moved to ${queue}, about ${left} left`);
  },
});

/**
 * Adds jobs to their queue, then removes them from the dead-letter queue.
 * @returns the number of jobs
 * @throws Error when the queue rejected some of them; these stay parked
 */
async function move(messages: readonly Message[], from: string, to: string): Promise<number> {
  const sent = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: to,
      Entries: messages.map(({ Body, Attributes, MessageAttributes }, index) => ({
        Id: String(index),
        MessageBody: Body,
        MessageGroupId: Attributes?.MessageGroupId,
        // The order of opt-outs depends on the time, which some jobs do not contain.
        MessageAttributes: {
          ...MessageAttributes,
          [queuedAtAttribute]: MessageAttributes?.[queuedAtAttribute] ?? {
            DataType: "Number",
            StringValue: Attributes?.SentTimestamp,
          },
        },
      })),
    }),
  );
  const moved = (sent.Successful ?? []).flatMap(({ Id = "" }) => messages[Number(Id)] ?? []);
  if (moved.length > 0) {
    const Entries = moved.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: from, Entries }));
  }
  const [rejected] = sent.Failed ?? [];
  if (rejected !== undefined) {
    await showAgain(
      from,
      messages.filter((message) => !moved.includes(message)),
    );
    throw new Error(`The queue rejected a job: ${rejected.Code} ${rejected.Message ?? ""}`);
  }
  return moved.length;
}

async function receive(QueueUrl: string, MaxNumberOfMessages: number): Promise<Message[]> {
  const { Messages } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages,
      VisibilityTimeout: hiddenSeconds,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId", "SentTimestamp"],
      MessageAttributeNames: [queuedAtAttribute, requestIdAttribute],
    }),
  );
  return Messages ?? [];
}

/** Makes received jobs visible again. */
async function showAgain(QueueUrl: string, messages: readonly Message[]): Promise<void> {
  for (let start = 0; start < messages.length; start += batchSize) {
    const Entries = messages.slice(start, start + batchSize).map(({ ReceiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle,
      VisibilityTimeout: 0,
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
}

/** The approximate number of parked jobs, including hidden ones. */
async function countParked(QueueUrl: string): Promise<number> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    }),
  );
  return (
    Number(Attributes?.["ApproximateNumberOfMessages"] ?? 0) +
    Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"] ?? 0)
  );
}

function ageText(since: string): string {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} d`;
}

export const deadLetterCommands = [list, redrive];
