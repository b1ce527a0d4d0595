import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type Message,
} from "@aws-sdk/client-sqs";
import * as z from "zod/mini";

import { queuedAtAttribute } from "../../shared/platform/jobs/job.ts";
import { queueNames, type QueueName } from "../../shared/platform/jobs/queue-names.ts";
import { outputNames } from "../constructs/stack-outputs.ts";
import { command, count, part } from "./command.ts";
import type { Context } from "./context.ts";
import { queues as client } from "./queues.ts";

/** SQS takes and gives at most this many messages in one call. */
const batchSize = 10;

/** How long a job that was taken off a dead-letter queue stays hidden from others. */
const hiddenSeconds = 60;

/** How long a receive waits: only one that waits asks every server whether it has a message. */
const waitSeconds = 1;

/** More parked jobs are not listed. */
const maxListed = 1_000;

/** More jobs are not moved by one command. */
const maxMoved = 100_000;

const queueRule = `must be one of ${queueNames.join(", ")}`;
const Queue = z.enum(queueNames, queueRule);

/** A parked job as the operator sees it. */
interface ParkedJob {
  readonly id: string;
  readonly queuedAt: string;
  readonly receiveCount: number;
  /** The ids in it; what else it holds may be a customer's data. */
  readonly ids: readonly string[];
}

const list = command({
  name: "dead-letters list",
  summary: "Show what is parked on the dead-letter queues and what it means for customers",
  examples: ["", "--queue refunds --stage prod"],
  input: z.object({
    queue: part("--queue <name>", "show the jobs that are parked behind this queue", z.optional(Queue)),
    limit: part(
      "--limit <number>",
      `so many of its jobs, 100 unless told, ${maxListed} at the most`,
      z._default(count(maxListed), 100),
    ),
  }),
  run: async ({ queue, limit }, context) => {
    if (queue === undefined) await listQueues(context);
    else await listJobs(context, queue, limit);
  },
});

async function listQueues({ output, stackOutput }: Context): Promise<void> {
  const rows = await Promise.all(
    queueNames.map(async (queue) => {
      const { value, description = "" } = stackOutput(outputNames.deadLetterQueueUrl(queue));
      return { queue, parked: await countParked(value), meaning: description };
    }),
  );
  output.table(rows, [
    { heading: "QUEUE", text: ({ queue }) => queue },
    { heading: "PARKED", text: ({ parked }) => String(parked), isNumber: true },
    // The sentences behind the first say what to do.
    { heading: "WHAT IT MEANS", text: ({ meaning }) => meaning.split(". ")[0] ?? "" },
  ]);
}

async function listJobs({ output, stackOutput }: Context, queue: QueueName, limit: number): Promise<void> {
  const { value: url, description = "" } = stackOutput(outputNames.deadLetterQueueUrl(queue));
  output.note(description);
  const held: Message[] = [];
  try {
    // A job that is looked at is hidden, so that the next receive brings others.
    while (held.length < limit) {
      const messages = await receive(url, Math.min(batchSize, limit - held.length));
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
  output.table(jobs, [
    { heading: "QUEUED", text: ({ queuedAt }) => queuedAt },
    { heading: "AGE", text: ({ queuedAt }) => ageText(queuedAt) },
    { heading: "RECEIVES", text: ({ receiveCount }) => String(receiveCount), isNumber: true },
    { heading: "JOB", text: ({ id }) => id },
    { heading: "IDS", text: ({ ids }) => ids.join(" ") },
  ]);
  output.note(`${jobs.length} jobs`);
}

const redrive = command({
  name: "dead-letters redrive",
  summary: "Move parked jobs back to their queue, when the cause is fixed",
  details:
    "Each job is put on its queue before it is taken off the dead-letter queue: what comes in between can double " +
    "a job, which changes nothing, but never lose one.",
  examples: ["refunds", "transactionalSends --limit 10 --stage prod"],
  asksFirst: true,
  input: z.object({
    queue: part("<queue>", "its name, as dead-letters list shows it", Queue),
    limit: part(
      "--limit <number>",
      `so many jobs at the most, ${maxMoved} unless told`,
      z._default(count(maxMoved), maxMoved),
    ),
  }),
  run: async ({ queue, limit }, { output, stackOutput, confirm }) => {
    const from = stackOutput(outputNames.deadLetterQueueUrl(queue)).value;
    const to = stackOutput(outputNames.queueUrl(queue)).value;
    const parked = await countParked(from);
    await confirm(`move ${Math.min(parked, limit)} of about ${parked} parked jobs back to ${queue}`);
    let moved = 0;
    while (moved < limit) {
      const messages = await receive(from, Math.min(batchSize, limit - moved));
      if (messages.length === 0) break;
      moved += await move(messages, from, to);
      output.progress(`${moved} of about ${parked} jobs moved`);
    }
    const left = await countParked(from);
    output.result({ queue, moved, left }, `${moved} jobs moved to ${queue}, about ${left} left`);
  },
});

/**
 * Puts jobs on their queue, then takes them off the dead-letter queue.
 * @returns how many
 * @throws Error when the queue did not take all of them; the others stay parked
 */
async function move(messages: readonly Message[], from: string, to: string): Promise<number> {
  const sent = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: to,
      Entries: messages.map(({ Body, Attributes, MessageAttributes }, index) => ({
        Id: String(index),
        MessageBody: Body,
        MessageGroupId: Attributes?.MessageGroupId,
        // Some jobs do not say by themselves when they happened, and the order of opt-outs depends on it.
        MessageAttributes: {
          [queuedAtAttribute]: MessageAttributes?.[queuedAtAttribute] ?? {
            DataType: "Number",
            StringValue: Attributes?.SentTimestamp,
          },
        },
      })),
    }),
  );
  const taken = (sent.Successful ?? []).flatMap(({ Id = "" }) => messages[Number(Id)] ?? []);
  if (taken.length > 0) {
    const Entries = taken.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: from, Entries }));
  }
  const [refused] = sent.Failed ?? [];
  if (refused !== undefined) {
    await showAgain(
      from,
      messages.filter((message) => !taken.includes(message)),
    );
    throw new Error(`The queue refused a job: ${refused.Code} ${refused.Message ?? ""}`);
  }
  return taken.length;
}

async function receive(QueueUrl: string, MaxNumberOfMessages: number): Promise<Message[]> {
  const { Messages } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages,
      VisibilityTimeout: hiddenSeconds,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId", "SentTimestamp"],
      MessageAttributeNames: [queuedAtAttribute],
    }),
  );
  return Messages ?? [];
}

/** Lets others see jobs that were only looked at. */
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

/** About how many jobs are parked, those included that someone looks at right now. */
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
