import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod/mini";

import {
  errorResponse,
  type AwsHandler,
  type AwsRequest,
  type AwsResponse,
} from "../../infra/local/local-aws.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { isDebit } from "../support/faults.ts";
import { readJobs, responseTo, type Job } from "./queued-jobs.ts";
import { caseOf, type Random } from "./random.ts";

/** The likelihood of each kind of fault for one request. */
const odds = {
  "request lost": 0.004,
  "request late": 0.004,
  "response dropped": 0.006,
  "response 500": 0.004,
  "response too late": 0.0004,
  "function ended before": 0.00025,
  "function ended after": 0.00025,
};

/** The likelihood of each fault that only DynamoDB has. */
const conflictOdds = 0.01;
const throttleOdds = 0.0004;
const oldAnswerOdds = 0.2;
/** The likelihood that a connection is dead when it was kept while the clock was set forward. */
const deadConnectionOdds = 0.1;

/** The likelihood of each fault of a job that is put onto a queue. */
const repeatOdds = 0.02;
const disorderOdds = 0.2;
const halfBatchOdds = 0.01;

/** The longest delay of a request, the longest extra delay of a job, and the longest throttling of a partition. */
const maxLateMs = secondMs;
const maxDisorderMs = 500;
const maxThrottleMs = secondMs;

/** The longest age of the data that an eventually consistent read returns. */
const maxOldMs = secondMs;

/** A delay that exceeds the functions' timeout. */
const tooLateMs = 2_500;

const Transaction = z.object({ TransactItems: z.array(z.unknown()) });

const singleWrites: ReadonlySet<string> = new Set([
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
]);
const transaction = "dynamodb:TransactWriteItems";
const reads: ReadonlySet<string> = new Set(["dynamodb:GetItem", "dynamodb:Query"]);

/**
 * AWS on a bad day, between the functions of a gateway and its emulators. Its queues use the functions' clock: a delayed
 * job waits here until that clock reaches its time.
 */
export class UnreliableAws {
  /** Whether the carrier accepts no messages to numbers that the sandbox throttles at first. */
  isCarrierOut = false;
  /** The number of occurrences of each fault. */
  readonly counts = new Map<string, number>();
  /** Debits that were sent over a dead connection. The product must never do that. */
  deadDebits = 0;
  /** DynamoDB's write units, by the function that consumed them. */
  readonly writeUnits = new Map<string, number>();
  /** Chooses the faults. Undefined while there are none. */
  #random: Random | undefined;
  readonly #now: () => number;
  readonly #kill: (functionName: string) => Promise<void>;
  /** Jobs that wait for the functions' clock to reach their time. */
  #delayed: { readonly dueMs: number; readonly send: () => Promise<unknown> }[] = [];
  /** Requests that arrive by themselves in a moment. */
  readonly #onTheWay = new Set<Promise<unknown>>();
  readonly #throttledUntilMs = new Map<string, number>();
  readonly #earlierAnswers = new Map<string, { readonly atMs: number; readonly answer: AwsResponse }>();
  /** The number of clock changes before the last use of each connection. */
  readonly #usedInStep = new WeakMap<object, number>();
  #step = 0;

  /**
   * @param now the functions' clock, in milliseconds since the epoch
   * @param kill ends a function and all its work
   */
  constructor(now: () => number, kill: (functionName: string) => Promise<void>) {
    this.#now = now;
    this.#kill = kill;
  }

  /** Starts the faults, and resets the counts. */
  becomeUnreliable(random: Random): void {
    this.#random = random;
    this.counts.clear();
    this.writeUnits.clear();
    this.deadDebits = 0;
  }

  becomeReliable(): void {
    this.#random = undefined;
  }

  /** The number of jobs that wait for the clock. */
  get delayedJobs(): number {
    return this.#delayed.length;
  }

  /** Whether no request is on its way that will arrive by itself. */
  get isQuiet(): boolean {
    return this.#onTheWay.size === 0;
  }

  /** Updates the faults after the clock was set forward. */
  clockWasSet(): void {
    this.#step += 1;
    this.#earlierAnswers.clear();
    this.#throttledUntilMs.clear();
  }

  /** Puts the due jobs onto their queues. */
  async releaseJobs(): Promise<void> {
    const nowMs = this.#now();
    const due = this.#delayed.filter(({ dueMs }) => dueMs <= nowMs);
    this.#delayed = this.#delayed.filter(({ dueMs }) => dueMs > nowMs);
    await Promise.all(due.map(async ({ send }) => send()));
  }

  readonly interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
    const { connection, operation } = request;
    const usedInStep = this.#usedInStep.get(connection) ?? this.#step;
    this.#usedInStep.set(connection, this.#step);
    if (usedInStep < this.#step && this.#happens("dead connection", deadConnectionOdds)) {
      if (isDebit(request)) this.deadDebits += 1;
      throw new Error("the connection has died");
    }
    if (operation.startsWith("sqs:"))
      return this.#withFaults(request, async () => this.#sendJobs(request, next));
    if (!operation.startsWith("dynamodb:")) return next(request);
    return this.#withFaults(request, async () => this.#onTable(request, next));
  };

  #happens(what: string, likelihood: number): boolean {
    if (this.#random === undefined || this.#random() >= likelihood) return false;
    this.#count(what);
    return true;
  }

  #upTo(ms: number): number {
    return (this.#random?.() ?? 0) * ms;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async #withFaults(request: AwsRequest, carryOut: () => Promise<AwsResponse>): Promise<AwsResponse> {
    const fault = this.#random === undefined ? undefined : caseOf(this.#random, odds);
    if (fault === undefined) return carryOut();
    this.#count(fault);
    switch (fault) {
      case "request lost":
        throw new Error(fault);
      case "request late":
        this.#later(this.#upTo(maxLateMs), carryOut);
        throw new Error(fault);
      case "response dropped":
        await carryOut();
        throw new Error(fault);
      case "response 500":
        await carryOut();
        return errorResponse("InternalServerError", "internal", 500);
      case "response too late": {
        const answer = await carryOut();
        await delay(tooLateMs);
        return answer;
      }
      case "function ended before":
        await this.#kill(request.functionName);
        throw new Error(fault);
      case "function ended after":
        await carryOut();
        await this.#kill(request.functionName);
        throw new Error(fault);
    }
  }

  /** Performs an action in a moment, regardless of its success. */
  #later(afterMs: number, happen: () => Promise<unknown>): void {
    const happening = delay(afterMs)
      .then(happen)
      .catch(() => undefined)
      .finally(() => this.#onTheWay.delete(happening));
    this.#onTheWay.add(happening);
  }

  async #onTable(request: AwsRequest, next: AwsHandler): Promise<AwsResponse> {
    const { operation, body } = request;
    const rejection = this.#rejection(request);
    if (rejection !== undefined) return rejection;
    const isOldRead = reads.has(operation) && body.includes('"ConsistentRead":false');
    if (isOldRead) {
      const earlier = this.#earlierAnswers.get(body);
      const isRecent = earlier !== undefined && Date.now() - earlier.atMs < maxOldMs;
      if (isRecent && this.#happens("old response", oldAnswerOdds)) return earlier.answer;
    }
    const answer = await next(withConsumption(request));
    if (isOldRead && answer.status === 200) {
      this.#earlierAnswers.set(body, { atMs: Date.now(), answer });
    }
    if (!reads.has(operation)) this.#addWriteUnits(request, answer);
    if (!this.isCarrierOut || !body.includes('"pk":{"S":"SANDBOX#')) return answer;
    this.#count("submission while the carrier fails");
    return rescheduledCount(answer);
  }

  /** The rejection of a request that DynamoDB does not carry out. */
  #rejection({ operation, body }: AwsRequest): AwsResponse | undefined {
    if (this.#random === undefined) return undefined;
    const isWrite = singleWrites.has(operation) || operation === transaction;
    if (isWrite && this.#happens("conflict", conflictOdds)) {
      return operation === transaction
        ? cancelled(body, () => "TransactionConflict")
        : errorResponse("TransactionConflictException", "conflict");
    }
    const partitions = [...body.matchAll(/"(?::|)pk":\{"S":"([^"]+)"\}/g)].map(([, pk = ""]) => pk);
    const [first] = partitions;
    if (first !== undefined && this.#happens("partition throttled", throttleOdds)) {
      this.#throttledUntilMs.set(first, Date.now() + this.#upTo(maxThrottleMs));
    }
    const nowMs = Date.now();
    const throttled = partitions.find((pk) => (this.#throttledUntilMs.get(pk) ?? 0) > nowMs);
    if (throttled === undefined) return undefined;
    this.#count("request throttled");
    return operation === transaction
      ? cancelled(body, (item) => (item.includes(`"${throttled}"`) ? "ThrottlingError" : "None"))
      : errorResponse("ProvisionedThroughputExceededException", "slow down");
  }

  #addWriteUnits({ functionName }: AwsRequest, { body }: AwsResponse): void {
    const name = functionName.replace(/Function[0-9A-F]+$/, "");
    const units = [...body.matchAll(/"CapacityUnits":([\d.]+)/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
    this.writeUnits.set(name, (this.writeUnits.get(name) ?? 0) + units);
  }

  /** Puts jobs on a queue: some twice, some later than others, and some of a batch not at all. */
  async #sendJobs(request: AwsRequest, next: AwsHandler): Promise<AwsResponse> {
    const { QueueUrl, isBatch, jobs } = readJobs(request);
    const isHalf = isBatch && this.#happens("half of a batch rejected", halfBatchOdds);
    const failed = isHalf ? jobs.filter((_, index) => index % 2 === 1) : [];
    const taken = jobs.filter((job) => !failed.includes(job));
    await Promise.all(
      taken.map(async (job) => {
        const { MessageBody, MessageGroupId } = job;
        const body = JSON.stringify({ QueueUrl, MessageBody, MessageGroupId });
        const headers = { ...request.headers, "x-amz-target": "AmazonSQS.SendMessage" };
        const send = async (): Promise<unknown> =>
          next({ ...request, operation: "sqs:SendMessage", headers, body });
        await this.#enqueue(job, send);
        if (this.#happens("job twice", repeatOdds)) await this.#enqueue(job, send);
      }),
    );
    return responseTo(isBatch, taken, failed);
  }

  async #enqueue({ DelaySeconds }: Job, send: () => Promise<unknown>): Promise<void> {
    if (DelaySeconds > 0) {
      this.#delayed.push({ dueMs: this.#now() + DelaySeconds * secondMs, send });
    } else if (this.#happens("job out of order", disorderOdds)) {
      this.#later(this.#upTo(maxDisorderMs), send);
    } else {
      await send();
    }
  }
}

/** Makes DynamoDB return the capacity that a request consumes. */
function withConsumption(request: AwsRequest): AwsRequest {
  return { ...request, body: request.body.replace("{", '{"ReturnConsumedCapacity":"TOTAL",') };
}

/** The response of the sandbox's table to a first call, in which the sandbox throttles some numbers. */
function rescheduledCount(answer: AwsResponse): AwsResponse {
  return { ...answer, body: answer.body.replace(/"calls":\{"N":"\d+"\}/, '"calls":{"N":"1"}') };
}

function cancelled(body: string, code: (item: string) => string): AwsResponse {
  const rejected = errorResponse("TransactionCanceledException", "cancelled");
  const { TransactItems } = Transaction.parse(JSON.parse(body));
  const CancellationReasons = TransactItems.map((item) => ({ Code: code(JSON.stringify(item)) }));
  return { ...rejected, body: JSON.stringify({ ...JSON.parse(rejected.body), CancellationReasons }) };
}
