import { workers } from "../../infra/workers.ts";
import { callbackJob, type CallbackJob } from "../../shared/messages/callbacks/callback-job.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord, type FinalDelivery } from "../../shared/messages/message/record.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { newWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { GetCommand, QueryCommand } from "../../shared/platform/aws/dynamodb.ts";
import { SendMessageBatchCommand, SendMessageCommand } from "../../shared/platform/aws/sqs.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { oneOf, type Random } from "../chaos/random.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { mutateRequest, mutatedAnswer, mutatedJob, type CarrierMutation } from "./carrier-mutations.ts";
import * as present from "./carrier-path.ts";
import { withOwnClass } from "./command-classes.ts";
import { Lambda, QueueWorker, type Handler } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import { problemsOf, type Facts } from "./message-verdict.ts";
import { connect } from "./money-path.ts";
import { ownNumber, People } from "./people.ts";
import { takeOver } from "./runtime.ts";
import { describe, type Observe } from "./trace.ts";
import { UnreliableCarrier } from "./unreliable-carrier.ts";
import { VirtualTime } from "./virtual-time.ts";

/*
 * Messages to two carriers that misbehave, and the receipts and inbound messages of these carriers. They are processed by
 * functions that die, on a table in memory. All events follow from random numbers: the same numbers repeat a run.
 */

const organizationId = "org_01J00000000000000000000000";
const initialMicros = 1_000_000_000;

/** The longest time from acceptance to its receipt: before the sender's lease has lapsed, or after it. */
const maxReceiptMs = 4 * minuteMs;

/** The share of callbacks that are delayed on their queue, and the longest delay, so that others overtake them. */
const overtakenOdds = 0.3;
const overtakenWithinMs = 2 * minuteMs;

/** People who write STOP and START at the same time. */
const people = 100;

/** The carriers' prices for a segment, in micro-units. */
const costMicros = { alpha: 3_001, beta: 5_003 };

/** How long functions die and carriers misbehave. All messages are finished after this. */
const faultyForMs = hourMs;

/** Every 50th message waits for hours before its first attempt, as after a large campaign, and is then throttled once. */
const lateEvery = 50;
const lateMs = 7 * hourMs;

/** Every 250th message comes when there are no other faults, and all carriers always throttle it. */
const unwantedEvery = 250;
const unwantedMs = 2 * hourMs;

/** A message that is not settled after this time never will be. */
const settledAfterMs = 12 * hourMs;

/** The sender gives up on a carrier without a response after this time. */
const carrierTimeoutMs = 9 * secondMs;

export interface Outcome {
  /** All problems, in words. */
  readonly problems: readonly string[];
  /** The number of messages with each outcome. */
  readonly ends: ReadonlyMap<string, number>;
  /** The number of messages that were submitted to the second carrier, and of those that only a receipt shows as sent. */
  readonly passedOn: number;
  readonly shownByReceipt: number;
}

/** The functions of a release, and its connection to the model's AWS. */
export type CarrierPath = typeof present & { readonly connect: typeof connect };

interface Options {
  /** The releases whose functions run over the one table: without it, this release alone. */
  readonly releases?: readonly CarrierPath[] | undefined;
  readonly mutation?: CarrierMutation | undefined;
  /** Receives all events. */
  readonly observe?: Observe | undefined;
}

/** @param random numbers from 0 to below 1 */
export async function carryMessages(count: number, random: Random, options: Options = {}): Promise<Outcome> {
  const world = new CarrierWorld(count, random, options);
  const restore = world.takeOver();
  try {
    return await world.run();
  } finally {
    restore();
  }
}

class CarrierWorld {
  readonly #count: number;
  readonly #random: Random;
  readonly #mutation: CarrierMutation | undefined;
  readonly #observe: Observe | undefined;
  readonly #releases: readonly CarrierPath[];
  readonly #time = new VirtualTime(new Date("2026-03-01T06:00:00Z"));
  readonly #lambda: Lambda;
  readonly #table = new MemoryTable();
  readonly #carriers: readonly [UnreliableCarrier, UnreliableCarrier];
  readonly #sends: QueueWorker;
  readonly #reports: QueueWorker;
  readonly #people: People;
  readonly #problems: string[] = [];
  readonly #askedSecond = new Set<string>();
  /** Messages that carriers throttle when there are no other faults. */
  readonly #rescheduledCount = new Map<string, "for ever" | "once">();
  readonly #putOffOnce = new Set<string>();
  /** When each message was first worked on, and when a receipt was recorded that proves its acceptance. */
  readonly #firstWorkedMs = new Map<string, number>();
  readonly #provenMs = new Map<string, number>();
  #accepted = 0;
  #refunds: unknown[] = [];
  #requests = 0;
  readonly #startedAtMs = this.#time.nowMs;

  constructor(
    count: number,
    random: Random,
    { mutation, observe, releases = [{ ...present, connect }] }: Options,
  ) {
    this.#count = count;
    this.#releases = releases;
    this.#random = random;
    this.#mutation = mutation;
    this.#observe = observe;
    const { sendMessage, recordCallback: reportRecorder } = workers;
    const sendTimeoutMs = sendMessage.timeoutSeconds * secondMs;
    this.#lambda = new Lambda(this.#time, random, mutation === "deadline" ? sendTimeoutMs : undefined);
    this.#carriers = [this.#newCarrier("alpha", false), this.#newCarrier("beta", true)];
    this.#sends = new QueueWorker(this.#lambda, {
      name: "sendMessage",
      timeoutMs: sendTimeoutMs,
      instances: 8,
      batchSize: 10,
      newHandler: (index) => this.#newSender(index),
    });
    this.#reports = new QueueWorker(this.#lambda, {
      name: "recordCallback",
      timeoutMs: reportRecorder.timeoutSeconds * secondMs,
      instances: 3,
      batchSize: 10,
      newHandler: () => this.#someRelease().newRecorder((message) => this.#noteProof(message)),
    });
    this.#people = new People(this.#time, random, (report) => this.#report(report));
  }

  async run(): Promise<Outcome> {
    await this.#time.until(this.#acceptMessages());
    this.#people.speak(people);
    this.#time.after(faultyForMs, () => {
      this.#lambda.isFaulty = false;
    });
    await this.#time.until(this.#untilSettled(this.#time.nowMs + settledAfterMs));
    return this.#time.until(this.#judge());
  }

  async #acceptMessages(): Promise<void> {
    await transact({ wallet: newWallet(organizationId, new Date()) });
    await postToWallet({ organizationId, type: "top_up", amountMicros: initialMicros });
    await putItem(
      putOf(keys.organization(organizationId), {
        entity: "organization",
        id: organizationId,
        name: "ACME",
        createdAt: new Date().toISOString(), // The organization receives its events, which are checked.
        webhookCount: 1,
      }),
    );
    await assignNumber({ number: ownNumber, organizationId });
    const request = { to: "447700900123", senderId: "ACME", language: "English" } as const;
    while (this.#accepted < this.#count) {
      const message = "x".repeat(this.#accepted % 3 === 0 ? 200 : 1);
      // Half of the messages have the facts for the lease in their jobs. The others are looked up.
      const messageType = this.#accepted % 2 === 0 ? "otp" : "transactional";
      await acceptMessage(organizationId, { ...request, message, messageType });
    }
  }

  /** Waits until no job is left, or until the deadline. */
  async #untilSettled(giveUpAtMs: number): Promise<void> {
    while (!this.#sends.isEmpty || !this.#reports.isEmpty) {
      if (this.#time.nowMs > giveUpAtMs) {
        this.#problems.push("some jobs came to no end");
        return;
      }
      await this.#time.sleep(minuteMs);
    }
  }

  /** Chooses the release of one instance of a function. */
  #someRelease(): CarrierPath {
    const [first, ...others] = this.#releases;
    return first !== undefined && others.length === 0 ? first : oneOf(this.#random, this.#releases);
  }

  #newSender(index: number): Handler {
    const { alpha, beta } = costMicros;
    return this.#someRelease().newSender({
      route: () => {
        const carriers = this.#carriers.map((carrier) => ({ name: carrier.name, carrier }));
        return this.#random() < 0.5 ? carriers : carriers.toReversed();
      },
      costMicros: this.#mutation === "cost by carrier" ? { alpha: beta, beta: alpha } : costMicros,
      // Some senders have a circuit breaker each, and the others call carriers regardless of earlier failures.
      hasBreaker: index % 4 === 0,
      begins: (id) => {
        if (!this.#firstWorkedMs.has(id)) this.#firstWorkedMs.set(id, this.#time.nowMs);
      },
    });
  }

  #noteProof({ id, deliveryStatus }: { id: string; deliveryStatus?: unknown }): void {
    // A carrier also reports `undelivered` for a message that it rejected.
    const isProof = deliveryStatus === "delivered" || deliveryStatus === "unknown";
    if (isProof && !this.#provenMs.has(id)) this.#provenMs.set(id, this.#time.nowMs);
  }

  #newCarrier(name: keyof typeof costMicros, recognizes: boolean): UnreliableCarrier {
    return new UnreliableCarrier(name, recognizes, {
      lambda: this.#lambda,
      claimsToRecognize: recognizes || this.#mutation === "repeat check",
      observer: {
        isUnwanted: (messageId) => this.#isPutOff(messageId),
        asked: (carrier, messageId) => this.#noteAsked(carrier, messageId),
        answered: (carrier, messageId, behavior) => {
          this.#observe?.(`${this.#time.nowMs} ${carrier} ${behavior} ${messageId}`);
        },
        tells: (carrier, messageId, status) => this.#tell(carrier, messageId, status),
      },
    });
  }

  #noteAsked(name: string, id: string): void {
    const { remainingMs } = this.#lambda;
    if (remainingMs < carrierTimeoutMs) {
      this.#problems.push(`${name} was asked about ${id} ${remainingMs} ms before the sender's end`);
    }
    for (const { name: other, open } of this.#carriers) {
      if (other === name || !open.has(id)) continue;
      this.#askedSecond.add(id);
      if ((open.get(id) ?? 0) > 0)
        this.#problems.push(`${name} was asked about ${id}, which ${other} may have`);
    }
  }

  #tell(carrier: string, messageId: string, status: FinalDelivery): void {
    this.#time.after(this.#random() * maxReceiptMs, () => {
      const at = new Date(this.#time.nowMs).toISOString();
      this.#report({ kind: "receipt", carrier, organizationId, messageId, status, at });
    });
  }

  /** Puts a callback on its queue, where others may overtake it. */
  #report(report: CallbackJob): void {
    const body = JSON.stringify(callbackJob(report).body);
    this.#observe?.(`${this.#time.nowMs} ${body}`);
    const delayMs = this.#random() < overtakenOdds ? this.#random() * overtakenWithinMs : 0;
    this.#reports.put(body, delayMs);
  }

  async #judge(): Promise<Outcome> {
    for (const job of this.#refunds.splice(0)) await this.#someRelease().refund(job);
    const messages = this.#table.all().filter((item) => item["entity"] === "message");
    if (messages.length !== this.#count)
      this.#problems.push(`${messages.length} messages are there of ${this.#count}`);
    const ends = new Map<string, number>();
    let sentMicros = 0;
    let shownByReceipt = 0;
    const costs = { recorded: 0, charged: 0 };
    for (const item of messages) {
      const message = MessageRecord.parse(item);
      const end = message.errorCode ?? message.status;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      this.#problems.push(
        ...problemsOf(message, this.#factsOf(message.id)).map((problem) => `${message.id} ${problem}`),
      );
      if (message.status !== "sent") continue;
      sentMicros += message.totalMicros;
      costs.recorded += message.costMicros ?? 0;
      costs.charged += this.#chargeOf(message.id);
      if (message.carrierReference === undefined) shownByReceipt += 1;
    }
    const { balanceMicros } = await readWallet(organizationId);
    if (balanceMicros !== initialMicros - sentMicros) this.#problems.push("the money does not add up");
    if (costs.recorded !== costs.charged) {
      this.#problems.push(`the costs are ${costs.recorded}, and the carriers charge ${costs.charged}`);
    }
    this.#problems.push(...(await this.#people.problems(organizationId)));
    const { findings } = await verifyWallet(organizationId);
    const problems = [...this.#problems, ...findings];
    return { problems, ends, passedOn: this.#askedSecond.size, shownByReceipt };
  }

  /** The carriers' charge for a message, in micro-units. */
  #chargeOf(id: string): number {
    const [alpha, beta] = this.#carriers;
    return (alpha.segments.get(id) ?? 0) * costMicros.alpha + (beta.segments.get(id) ?? 0) * costMicros.beta;
  }

  #factsOf(id: string): Facts {
    return {
      takes: new Map(this.#carriers.map(({ name, taken }) => [name, taken.get(id) ?? 0])),
      wasPutOff: this.#rescheduledCount.get(id),
      firstWorkedMs: this.#firstWorkedMs.get(id),
      provenMs: this.#provenMs.get(id),
    };
  }

  /** Replaces the table, the queues and the clocks of AWS with those of this world. @returns what restores them */
  takeOver(): () => void {
    const restores = [
      takeOver({
        nowMs: () => this.#lambda.nowMs(),
        random: this.#random,
        sleep: async (delayMs) => this.#lambda.wait(delayMs),
        after: (delayMs, happen) => this.#time.after(delayMs, happen),
      }),
      ...this.#releases.map((release) =>
        release.connect({
          request: async (_, command) => this.#request(withOwnClass(command)),
          enqueue: async (command) => this.#enqueue(withOwnClass(command)),
        }),
      ),
    ];
    return () => {
      for (const restore of restores) restore();
    };
  }

  async #request(command: object): Promise<unknown> {
    this.#requests += 1;
    const name = `${this.#requests} ${this.#lambda.current?.instance.name ?? ""}`;
    this.#observe?.(`${this.#time.nowMs} ${name} ${describe(command)}`);
    await this.#lambda.wait(0);
    // The request arrives even if its sender dies.
    await this.#time.sleep(this.#lambda.wayMs());
    mutateRequest(this.#mutation, command);
    const isRead = command instanceof GetCommand || command instanceof QueryCommand;
    const isOld = isRead && command.input.ConsistentRead !== true && this.#random() < 0.3;
    let answer: unknown;
    let failure: unknown;
    try {
      answer = this.#table.carryOut(command, isOld);
    } catch (error) {
      failure = error;
    }
    this.#observe?.(`${this.#time.nowMs} ${name} ${JSON.stringify(failure ?? answer)}`);
    await this.#lambda.wait(this.#lambda.wayMs());
    if (failure !== undefined) throw failure;
    return mutatedAnswer(this.#mutation, answer);
  }

  async #enqueue(command: object): Promise<unknown> {
    await this.#lambda.wait(this.#lambda.wayMs());
    this.#observe?.(`${this.#time.nowMs} ${this.#lambda.current?.instance.name ?? ""} ${describe(command)}`);
    const sent =
      command instanceof SendMessageCommand
        ? [command.input]
        : command instanceof SendMessageBatchCommand
          ? (command.input.Entries ?? []).map((entry) => ({ ...entry, QueueUrl: command.input.QueueUrl }))
          : [];
    for (const { QueueUrl = "", MessageBody = "", DelaySeconds = 0 } of sent) {
      if (QueueUrl.endsWith("refunds")) this.#refunds.push(JSON.parse(MessageBody));
      else if (QueueUrl.endsWith("Sends"))
        this.#send(MessageJob.parse(JSON.parse(MessageBody)), DelaySeconds);
    }
    await this.#lambda.wait(this.#lambda.wayMs());
    return {};
  }

  #send(job: MessageJob, delaySeconds: number): void {
    const delayMs = this.#lambda.current === undefined ? this.#plan(job.messageId) : delaySeconds * secondMs;
    this.#sends.put(JSON.stringify(mutatedJob(this.#mutation, job, new Date(this.#startedAtMs))), delayMs);
  }

  #isPutOff(messageId: string): boolean {
    const times = this.#rescheduledCount.get(messageId);
    if (times !== "once") return times === "for ever";
    const isFirst = !this.#putOffOnce.has(messageId);
    this.#putOffOnce.add(messageId);
    return isFirst;
  }

  /** Decides the fate of a message that was just accepted. @returns the delay before its first attempt */
  #plan(messageId: string): number {
    this.#accepted += 1;
    if (this.#accepted % unwantedEvery === 0) {
      this.#rescheduledCount.set(messageId, "for ever");
      return unwantedMs;
    }
    if (this.#accepted % lateEvery > 0) return 0;
    this.#rescheduledCount.set(messageId, "once");
    return lateMs;
  }
}
