import { setTimeout as delay } from "node:timers/promises";

import type { Message } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import * as z from "zod/mini";

import { localRegion } from "./connections.ts";
import type { DataServices } from "./data-services.ts";
import {
  lineageHeader,
  maxRunsInChain,
  parseLineage,
  traceAttribute,
  withRun,
  type Lineage,
} from "./lineage.ts";
import type { ScheduleDefinition } from "./template.ts";

/** The most batches of a queue at the same time. A laptop does not need AWS's concurrency, and its log stays readable. */
const maxLocalConcurrency = 8;

/**
 * The same for a queue with batches of one job: such jobs mostly wait for others and need little CPU. Some are left when the
 * webhooks of one customer hang, which has 40 calls in flight.
 */
const maxLocalSingles = 100;

/** The event of a rule that defines no input. */
const scheduledEvent = { source: "aws.events", "detail-type": "Scheduled Event" };

/** The pause after a failed poll, so that an unavailable queue service does not fill the log. */
const pollPauseMs = 1_000;

const Received = z.object({ Messages: z._default(z.array(z.custom<Message>()), []) });

const BatchResponse = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })),
});

export interface EventSource {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly deadLettersUrl: string | undefined;
  readonly batchSize: number;
  readonly maxConcurrency: number;
  readonly functionName: string;
  /** Whether the function may run any number of times in one chain of calls. */
  readonly queuesForItself: boolean;
  readonly invoke: (event: unknown, traceId: string) => Promise<unknown>;
}

/** Calls functions as Lambda's event-source mappings and EventBridge's rules do. */
export class EventSources {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #dataServices: DataServices;
  readonly #log: (line: string) => void;

  constructor(dataServices: DataServices, log: (line: string) => void) {
    this.#dataServices = dataServices;
    this.#log = log;
  }

  /** Calls a function with the messages of a queue, and deletes those that it does not report as failed. */
  poll(source: EventSource): void {
    this.#running.push(this.#pollUntilStopped(source));
  }

  /** Calls a function at a fixed interval, such as `rate(1 minute)`, for the first time after a delay. */
  schedule(
    { expression, input = scheduledEvent }: ScheduleDefinition,
    delayMs: number,
    invoke: (event: unknown) => Promise<unknown>,
  ): void {
    const [, count = "", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
    const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit];
    if (unitMs === undefined)
      throw new Error(`the local gateway does not support the schedule ${expression}`);
    this.#running.push(this.#repeatUntilStopped(delayMs, Number(count) * unitMs, async () => invoke(input)));
  }

  /** Starts no more calls and waits for those in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #pollUntilStopped(source: EventSource): Promise<void> {
    const batches = new Set<Promise<void>>();
    const limit = Math.min(
      source.maxConcurrency,
      source.batchSize === 1 ? maxLocalSingles : maxLocalConcurrency,
    );
    while (!this.#stopping.signal.aborted) {
      if (batches.size >= limit) await Promise.race(batches);
      const messages = await this.#receive(source);
      if (messages.length === 0) continue;
      const batch = this.#process(source, messages).finally(() => batches.delete(batch));
      batches.add(batch);
    }
    await Promise.all(batches);
  }

  async #receive({ queueUrl, batchSize }: EventSource): Promise<Message[]> {
    try {
      const input = {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: batchSize,
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      };
      const { signal } = this.#stopping;
      return Received.parse(await this.#dataServices.request("sqs", "ReceiveMessage", input, signal))
        .Messages;
    } catch (error) {
      if (!this.#stopping.signal.aborted) {
        this.#log(`polling ${queueUrl} failed: ${String(error)}`);
        await this.#pause(pollPauseMs);
      }
      return [];
    }
  }

  async #process(source: EventSource, received: readonly Message[]): Promise<void> {
    try {
      const messages = await this.#endLoops(source, received);
      if (messages.length === 0) return;
      const trace = lineageHeader(withRun(source.functionName, messages.map(lineageOf)));
      const event = { Records: messages.map((message) => record(source, message)) };
      const { batchItemFailures } = BatchResponse.parse(await source.invoke(event, trace));
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      await this.#delete(
        source,
        messages.filter(({ MessageId }) => !failed.has(MessageId ?? "")),
      );
    } catch (error) {
      // The whole batch is received again after its visibility timeout.
      this.#log(`a batch of ${source.queueUrl} failed: ${String(error)}`);
    }
  }

  /** Removes messages for which Lambda would end the loop. @returns the other messages */
  async #endLoops(source: EventSource, messages: readonly Message[]): Promise<readonly Message[]> {
    const { functionName, deadLettersUrl } = source;
    const isLoop = (message: Message): boolean =>
      !source.queuesForItself && (lineageOf(message).get(functionName) ?? 0) >= maxRunsInChain;
    const ended = messages.filter(isLoop);
    for (const { Body, Attributes } of ended) {
      if (deadLettersUrl !== undefined) {
        const MessageGroupId = Attributes?.MessageGroupId;
        const input = { QueueUrl: deadLettersUrl, MessageBody: Body, MessageGroupId };
        await this.#dataServices.request("sqs", "SendMessage", input);
      }
      const fate = deadLettersUrl === undefined ? "dropped" : `moved to ${deadLettersUrl}`;
      this.#log(
        `Lambda ends loops: ${functionName} has run ${maxRunsInChain} times in one chain of calls. A job was ${fate}. ` +
          "If the loop is intended, set queuesForItself in its row of infra/stack/workers.ts.",
      );
    }
    await this.#delete(source, ended);
    return messages.filter((message) => !isLoop(message));
  }

  async #delete({ queueUrl }: EventSource, messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await this.#dataServices.request("sqs", "DeleteMessageBatch", { QueueUrl: queueUrl, Entries });
  }

  async #repeatUntilStopped(
    delayMs: number,
    intervalMs: number,
    invoke: () => Promise<unknown>,
  ): Promise<void> {
    await this.#pause(delayMs);
    while (!this.#stopping.signal.aborted) {
      await invoke().catch((error: unknown) => {
        this.#log(`a scheduled call failed: ${String(error)}`);
      });
      await this.#pause(intervalMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

/** Returns how often each function has run in the chain of calls that led to a message. */
function lineageOf({ MessageAttributes }: Message): Lineage {
  return parseLineage(MessageAttributes?.[traceAttribute]?.StringValue);
}

/** Returns the attributes of a message in Lambda's format. */
function attributesOf({ MessageAttributes = {} }: Message): SQSRecord["messageAttributes"] {
  return Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { DataType = "String", StringValue = "" }]) => [
      name,
      { dataType: DataType, stringValue: StringValue },
    ]),
  );
}

function record(source: EventSource, message: Message): SQSRecord {
  const attributes = message.Attributes ?? {};
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: {
      ApproximateReceiveCount: attributes.ApproximateReceiveCount ?? "1",
      SentTimestamp: attributes.SentTimestamp ?? "",
      SenderId: attributes.SenderId ?? "",
      ApproximateFirstReceiveTimestamp: attributes.ApproximateFirstReceiveTimestamp ?? "",
      ...(attributes.MessageGroupId === undefined ? {} : { MessageGroupId: attributes.MessageGroupId }),
    },
    messageAttributes: attributesOf(message),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: source.queueArn,
    awsRegion: localRegion,
  };
}
