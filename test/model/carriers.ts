import { workers } from "../../infra/stack/workers.ts";
import { callbackJob, type CallbackJob } from "../../shared/messages/callbacks/callback-job.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord, type FinalDelivery } from "../../shared/messages/message/record.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { oneOf, type Random } from "../chaos/random.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { CarrierAws } from "./carrier-aws.ts";
import { mutatedJob, type CarrierMutation } from "./carrier-mutations.ts";
import { initialMicros, openOrganization, organizationId } from "./carrier-organization.ts";
import * as present from "./carrier-path.ts";
import { Lambda, QueueWorker, type Handler } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import { judgeMessages, type Facts } from "./message-verdict.ts";
import { connect } from "./money-path.ts";
import { People } from "./people.ts";
import { recordsOf } from "./records.ts";
import { ThrottledMessages } from "./throttled-messages.ts";
import { type Observe } from "./trace.ts";
import { UnreliableCarrier } from "./unreliable-carrier.ts";
import { VirtualTime } from "./virtual-time.ts";

/*
 * Messages to two carriers that misbehave, and the receipts and inbound messages of these carriers. They are processed by
 * functions that die, on a table in memory. All events follow from random numbers: the same numbers repeat a run.
 */

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
  /** When each message was first worked on, and when a receipt was recorded that proves its acceptance. */
  readonly #firstWorkedMs = new Map<string, number>();
  readonly #provenMs = new Map<string, number>();
  readonly #throttled = new ThrottledMessages();
  readonly #refunds: unknown[] = [];
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
    await openOrganization();
    const request = { to: "447700900123", senderId: "ACME", language: "English" } as const;
    while (this.#throttled.accepted < this.#count) {
      const message = "x".repeat(this.#throttled.accepted % 3 === 0 ? 200 : 1);
      // Half of the messages have the facts for the lease in their jobs. The others are looked up.
      const messageType = this.#throttled.accepted % 2 === 0 ? "otp" : "transactional";
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
        isUnwanted: (messageId) => this.#throttled.isThrottled(messageId),
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
    const messages = recordsOf(this.#table, MessageRecord, "message");
    if (messages.length !== this.#count)
      this.#problems.push(`${messages.length} messages are there of ${this.#count}`);
    const {
      problems: found,
      ends,
      shownByReceipt,
      sentMicros,
    } = judgeMessages(messages, {
      factsOf: (id) => this.#factsOf(id),
      chargeOf: (id) => this.#chargeOf(id),
    });
    this.#problems.push(...found);
    const { balanceMicros } = await readWallet(organizationId);
    if (balanceMicros !== initialMicros - sentMicros) this.#problems.push("the money does not add up");
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
      wasPutOff: this.#throttled.throttled.get(id),
      firstWorkedMs: this.#firstWorkedMs.get(id),
      provenMs: this.#provenMs.get(id),
    };
  }

  /** Replaces the table, the queues and the clocks of AWS with those of this world. @returns what restores them */
  takeOver(): () => void {
    return new CarrierAws({
      random: this.#random,
      lambda: this.#lambda,
      table: this.#table,
      mutation: this.#mutation,
      releases: this.#releases,
      observe: this.#observe,
      refund: (body) => void this.#refunds.push(JSON.parse(body)),
      send: (body, delaySeconds) => this.#send(MessageJob.parse(JSON.parse(body)), delaySeconds),
    }).takeOver();
  }

  #send(job: MessageJob, delaySeconds: number): void {
    const delayMs =
      this.#lambda.current === undefined ? this.#throttled.plan(job.messageId) : delaySeconds * secondMs;
    this.#sends.put(JSON.stringify(mutatedJob(this.#mutation, job, new Date(this.#startedAtMs))), delayMs);
  }
}
