import { createHash, randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { localAccountId } from "../references.ts";
import type { Messages } from "./messages.ts";
import { Queue, type StoredMessage, type QueueSettings, type ReceivedMessage } from "./queue.ts";
import { ServiceError } from "./service-error.ts";

const secondMs = 1_000;

/** The most messages in one call. */
const maxBatch = 10;

/** The largest total size of the messages of one call. */
const maxBytes = 1_048_576;

const OnQueue = z.object({ QueueUrl: z.string() });
const Seconds = z.int().check(z.gte(0));

const SentMessage = z.object({
  MessageBody: z.string().check(z.minLength(1)),
  DelaySeconds: z._default(Seconds.check(z.lte(900)), 0),
  MessageGroupId: z.optional(z.string().check(z.regex(/^[\x21-\x7e]{1,128}$/))),
  MessageAttributes: z.optional(z.record(z.string(), z.unknown())),
  /** From the local endpoint of AWS. */
  SenderId: z._default(z.string(), localAccountId),
});
type SentMessage = z.infer<typeof SentMessage>;

const SendMessage = z.object({ ...OnQueue.shape, ...SentMessage.shape });
const SendMessageBatch = z.extend(OnQueue, {
  Entries: batchOf(z.object({ Id: z.string(), ...SentMessage.shape })),
});
const ReceiveMessage = z.extend(OnQueue, {
  MaxNumberOfMessages: z._default(z.int().check(z.gte(1), z.lte(maxBatch)), 1),
  WaitTimeSeconds: z._default(Seconds.check(z.lte(20)), 0),
  VisibilityTimeout: z.optional(Seconds),
  MessageAttributeNames: z._default(z.array(z.string()), []),
});
const DeleteMessage = z.extend(OnQueue, { ReceiptHandle: z.string() });
const DeleteMessageBatch = z.extend(OnQueue, {
  Entries: batchOf(z.object({ Id: z.string(), ReceiptHandle: z.string() })),
});
const ChangeMessageVisibilityBatch = z.extend(OnQueue, {
  Entries: batchOf(z.object({ Id: z.string(), ReceiptHandle: z.string(), VisibilityTimeout: Seconds })),
});
const CreateQueue = z.object({
  QueueName: z.string().check(z.regex(/^[\w-]{1,80}$/)),
  Attributes: z.prefault(
    z.object({ VisibilityTimeout: z._default(z.coerce.number(), 30), RedrivePolicy: z.optional(z.string()) }),
    {},
  ),
});
const RedrivePolicy = z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() });

function batchOf<Entry extends z.ZodMiniType>(entry: Entry): z.ZodMiniArray<Entry> {
  return z.array(entry).check(z.minLength(1), z.maxLength(maxBatch));
}

/** The standard queues of SQS, as far as the project uses them. */
export class Queues {
  readonly #url: string;
  readonly #messages: Messages;
  readonly #queues = new Map<string, Queue>();
  /** Messages of the previous run, until their queue is created. */
  readonly #restored: Map<string, StoredMessage[]>;

  /** @param url the beginning of the URLs of the queues */
  constructor(messages: Messages, url: string) {
    this.#url = url;
    this.#messages = messages;
    this.#restored = Map.groupBy(messages.load(), ({ queueName }) => queueName);
  }

  /** Stops all timers, and ends all waits. */
  close(): void {
    for (const queue of this.#queues.values()) queue.close();
  }

  /**
   * Executes an operation.
   * @param signal ends a wait for messages
   * @throws ServiceError for a request that SQS rejects
   */
  async execute(operation: string, input: unknown, signal: AbortSignal): Promise<object> {
    try {
      return await this.#execute(operation, input, signal);
    } catch (error) {
      throw error instanceof z.core.$ZodError
        ? new ServiceError("InvalidParameterValue", z.prettifyError(error))
        : error;
    }
  }

  async #execute(operation: string, body: unknown, signal: AbortSignal): Promise<object> {
    switch (operation) {
      case "CreateQueue":
        return this.#createQueue(CreateQueue.parse(body));
      case "GetQueueAttributes":
        return { Attributes: attributesOf(this.#queueAt(OnQueue.parse(body))) };
      case "SendMessage":
        return this.#send(SendMessage.parse(body));
      case "SendMessageBatch":
        return this.#sendBatch(SendMessageBatch.parse(body));
      case "ReceiveMessage":
        return this.#receive(ReceiveMessage.parse(body), signal);
      case "DeleteMessage": {
        const request = DeleteMessage.parse(body);
        this.#queueAt(request).delete(request.ReceiptHandle);
        return {};
      }
      case "DeleteMessageBatch": {
        const request = DeleteMessageBatch.parse(body);
        const queue = this.#queueAt(request);
        for (const { ReceiptHandle } of request.Entries) queue.delete(ReceiptHandle);
        return { Successful: request.Entries.map(({ Id }) => ({ Id })), Failed: [] };
      }
      case "ChangeMessageVisibilityBatch": {
        const request = ChangeMessageVisibilityBatch.parse(body);
        const queue = this.#queueAt(request);
        for (const { ReceiptHandle, VisibilityTimeout } of request.Entries) {
          queue.changeVisibility(ReceiptHandle, VisibilityTimeout * secondMs);
        }
        return { Successful: request.Entries.map(({ Id }) => ({ Id })), Failed: [] };
      }
      default:
        throw new ServiceError("InvalidAction", `The local SQS does not support ${operation}.`);
    }
  }

  /** Creates a queue, or changes the settings of an existing one. */
  #createQueue({ QueueName, Attributes }: z.infer<typeof CreateQueue>): object {
    const settings = this.#settingsOf(Attributes);
    const existing = this.#queues.get(QueueName);
    if (existing === undefined) {
      const queue = new Queue(QueueName, settings, this.#messages);
      this.#queues.set(QueueName, queue);
      for (const message of this.#restored.get(QueueName) ?? []) queue.restore(message);
      this.#restored.delete(QueueName);
    } else {
      existing.settings = settings;
    }
    return { QueueUrl: `${this.#url}/${localAccountId}/${QueueName}` };
  }

  #settingsOf({
    VisibilityTimeout,
    RedrivePolicy: policy,
  }: z.infer<typeof CreateQueue>["Attributes"]): QueueSettings {
    const visibilityTimeoutMs = VisibilityTimeout * secondMs;
    if (policy === undefined) return { visibilityTimeoutMs, redrive: undefined };
    const { deadLetterTargetArn, maxReceiveCount } = RedrivePolicy.parse(JSON.parse(policy));
    const target = (): Queue | undefined => this.#queues.get(deadLetterTargetArn.split(":").at(-1) ?? "");
    return { visibilityTimeoutMs, redrive: { maxReceiveCount, target } };
  }

  #send(request: z.infer<typeof SendMessage>): object {
    checkTotalSize([request]);
    const queue = this.#queueAt(request);
    this.#messages.beginWrite();
    return put(queue, request);
  }

  #sendBatch(request: z.infer<typeof SendMessageBatch>): object {
    checkTotalSize(request.Entries);
    const queue = this.#queueAt(request);
    this.#messages.beginWrite();
    return {
      Successful: request.Entries.map((entry) => ({ Id: entry.Id, ...put(queue, entry) })),
      Failed: [],
    };
  }

  async #receive(request: z.infer<typeof ReceiveMessage>, signal: AbortSignal): Promise<object> {
    const { MaxNumberOfMessages, WaitTimeSeconds, VisibilityTimeout, MessageAttributeNames } = request;
    const received = await this.#queueAt(request).receive(MaxNumberOfMessages, {
      waitMs: WaitTimeSeconds * secondMs,
      ...(VisibilityTimeout === undefined ? {} : { visibilityTimeoutMs: VisibilityTimeout * secondMs }),
      signal,
    });
    const hasAttributes = MessageAttributeNames.length > 0;
    return received.length === 0 ? {} : { Messages: received.map((each) => messageOf(each, hasAttributes)) };
  }

  #queueAt({ QueueUrl }: z.infer<typeof OnQueue>): Queue {
    const queue = this.#queues.get(QueueUrl.split("/").at(-1) ?? "");
    if (queue !== undefined) return queue;
    throw new ServiceError("QueueDoesNotExist", "The specified queue does not exist.");
  }
}

function put(queue: Queue, message: SentMessage): object {
  const { MessageBody: body, DelaySeconds, MessageGroupId: groupId, MessageAttributes: attributes } = message;
  const { SenderId: senderId } = message;
  const id = randomUUID();
  const sentAtMs = Date.now();
  queue.add({
    id,
    queueName: queue.name,
    body,
    attributes,
    groupId,
    senderId,
    sentAtMs,
    visibleAtMs: sentAtMs + DelaySeconds * secondMs,
    receiveCount: 0,
    firstReceivedAtMs: undefined,
  });
  return { MessageId: id, MD5OfMessageBody: md5(body) };
}

function checkTotalSize(messages: readonly SentMessage[]): void {
  const bytes = messages.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
  if (bytes <= maxBytes) return;
  const reason = `Messages must be shorter than ${maxBytes} bytes together.`;
  throw new ServiceError("InvalidParameterValue", `One or more parameters are invalid. Reason: ${reason}`);
}

function messageOf({ message, receiptHandle }: ReceivedMessage, hasAttributes: boolean): object {
  const { id, body, attributes, groupId, senderId, sentAtMs, receiveCount, firstReceivedAtMs } = message;
  return {
    MessageId: id,
    ReceiptHandle: receiptHandle,
    MD5OfBody: md5(body),
    Body: body,
    Attributes: {
      SenderId: senderId,
      SentTimestamp: String(sentAtMs),
      ApproximateReceiveCount: String(receiveCount),
      ApproximateFirstReceiveTimestamp: String(firstReceivedAtMs),
      ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
    },
    ...(hasAttributes ? { MessageAttributes: attributes } : {}),
  };
}

function attributesOf({ counts }: Queue): object {
  return {
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
  };
}

function md5(body: string): string {
  return createHash("md5").update(body).digest("hex");
}
