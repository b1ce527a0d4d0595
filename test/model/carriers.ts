import { SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";

import { workers } from "../../infra/workers.ts";
import { recordReport } from "../../shared/carrier-reports/record.ts";
import { QueuedReport, reportJob, type ReportJob } from "../../shared/carrier-reports/report-job.ts";
import { Breakers } from "../../shared/carriers/breaker.ts";
import { countOutcomes, countReceipts } from "../../shared/messages/counts.ts";
import { handToCarrier } from "../../shared/messages/hand-to-carrier.ts";
import { MessageJob } from "../../shared/messages/message-job.ts";
import { MessageRecord, type FinalDelivery } from "../../shared/messages/record.ts";
import { refundMessage } from "../../shared/messages/refund.ts";
import { assignNumber } from "../../shared/numbers/record.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/table.ts";
import { documentOf, RateCard } from "../../shared/prices/rate-card.ts";
import { auditWallet } from "../../shared/reconciliation/audit.ts";
import { postToWallet } from "../../shared/wallet/post.ts";
import { newWallet, readWallet } from "../../shared/wallet/record.ts";
import type { Random } from "../chaos/random.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { inOrder } from "../support/carriers.ts";
import { mutateRequest, mutatedAnswer, mutatedJob, type CarrierMutation } from "./carrier-mutations.ts";
import { Lambda, QueueWorker, type Handler } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import { problemsOf, type Facts } from "./message-verdict.ts";
import { ownNumber, People } from "./people.ts";
import { takeOver } from "./runtime.ts";
import { describe, type Observe } from "./trace.ts";
import { UnreliableCarrier } from "./unreliable-carrier.ts";
import { VirtualTime } from "./virtual-time.ts";

/*
 * Messages on their way through two carriers that misbehave, and what these report of them, by functions that die, on a
 * table in memory. All of it follows from random numbers: with the same ones the same happens.
 */

const organizationId = "org_01J00000000000000000000000";
const initialMicros = 1_000_000_000;

/** A receipt is told so long after the carrier has taken a message at the most: before its sender's claim has lapsed, or after it. */
const maxReceiptMs = 4 * minuteMs;

/** How many reports wait on their queue, and for how long, so that others overtake them. */
const overtakenOdds = 0.3;
const overtakenWithinMs = 2 * minuteMs;

/** People who write STOP and START meanwhile. */
const people = 100;

/** What carriers take for a segment, in micro-units. */
const costMicros = { alpha: 3_001, beta: 5_003 };

/** For so long functions die and carriers misbehave. What they do after it brings everything to its end. */
const faultyForMs = hourMs;

/** One message in so many waits for hours before it is taken up, as behind a large campaign, and is then put off once. */
const lateEvery = 50;
const lateMs = 7 * hourMs;

/** One message in so many comes when all is well, and is put off by all carriers for ever. */
const unwantedEvery = 250;
const unwantedMs = 2 * hourMs;

/** What is not settled after so long never will be. */
const settledAfterMs = 12 * hourMs;

/** A carrier that says nothing for so long is given up. */
const carrierTimeoutMs = 9 * secondMs;

export interface Outcome {
  /** All that is wrong, in words. */
  readonly problems: readonly string[];
  /** How many messages came to each end. */
  readonly ends: ReadonlyMap<string, number>;
  /** How many of them the second carrier was asked about, and how many a receipt alone has shown to be sent. */
  readonly passedOn: number;
  readonly shownByReceipt: number;
}

interface Options {
  readonly mutation?: CarrierMutation | undefined;
  /** Is told all that happens. */
  readonly observe?: Observe | undefined;
}

/** @param random numbers from 0 to below 1 */
export async function carryMessages(
  count: number,
  random: Random,
  { mutation, observe }: Options = {},
): Promise<Outcome> {
  const world = new CarrierWorld(count, random, { mutation, observe });
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
  readonly #time = new VirtualTime(new Date("2026-03-01T06:00:00Z"));
  readonly #lambda: Lambda;
  readonly #table = new MemoryTable();
  readonly #carriers: readonly [UnreliableCarrier, UnreliableCarrier];
  readonly #rateCard: RateCard;
  readonly #sends: QueueWorker;
  readonly #reports: QueueWorker;
  readonly #people: People;
  readonly #problems: string[] = [];
  readonly #askedSecond = new Set<string>();
  /** Messages that carriers put off when all else is well. */
  readonly #putOff = new Map<string, "for ever" | "once">();
  readonly #putOffOnce = new Set<string>();
  /** When a job of each message was first worked on, and when a receipt was recorded that proves that it was taken. */
  readonly #firstWorkedMs = new Map<string, number>();
  readonly #provenMs = new Map<string, number>();
  #accepted = 0;
  #refunds: unknown[] = [];
  #requests = 0;
  readonly #startedAtMs = this.#time.nowMs;

  constructor(count: number, random: Random, { mutation, observe }: Options) {
    this.#count = count;
    this.#random = random;
    this.#mutation = mutation;
    this.#observe = observe;
    const { sendMessage, recordCallback: reportRecorder } = workers;
    const sendTimeoutMs = sendMessage.timeoutSeconds * secondMs;
    this.#lambda = new Lambda(this.#time, random, mutation === "deadline" ? sendTimeoutMs : undefined);
    this.#carriers = [this.#newCarrier("alpha", false), this.#newCarrier("beta", true)];
    const { alpha, beta } = costMicros;
    const known = mutation === "cost by carrier" ? { alpha: beta, beta: alpha } : costMicros;
    this.#rateCard = new RateCard(documentOf([{ prefix: "44", priceMicros: 1, costMicros: known }]));
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
      newHandler: () => this.#newRecorder(),
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
    await transact(newWallet(organizationId, new Date()));
    await postToWallet({ organizationId, type: "top_up", amountMicros: initialMicros });
    await transact([
      {
        put: {
          ...keys.organization(organizationId),
          entity: "organization",
          id: organizationId,
          name: "ACME",
          createdAt: new Date().toISOString(),
          // It hears of its events, which are checked.
          webhookCount: 1,
        },
      },
    ]);
    await assignNumber({ number: ownNumber, organizationId });
    const request = { to: "447700900123", senderId: "ACME", language: "English" } as const;
    while (this.#accepted < this.#count) {
      const message = "x".repeat(this.#accepted % 3 === 0 ? 200 : 1);
      // Half of them are claimed by the facts in their jobs; for the others it is looked up whether they are wanted.
      const messageType = this.#accepted % 2 === 0 ? "otp" : "transactional";
      await acceptMessage(organizationId, { ...request, message, messageType });
    }
  }

  /** Waits until no job is left, or for as long as that may take. */
  async #untilSettled(giveUpAtMs: number): Promise<void> {
    while (!this.#sends.isEmpty || !this.#reports.isEmpty) {
      if (this.#time.nowMs > giveUpAtMs) {
        this.#problems.push("some jobs came to no end");
        return;
      }
      await this.#time.sleep(minuteMs);
    }
  }

  #newSender(index: number): Handler {
    // Some senders go by what they have seen, each for itself, and the others ask whatever came of it before.
    const breakers = index % 4 === 0 ? { breakers: new Breakers() } : {};
    return worker(
      MessageJob,
      async (job, remainingTimeMs) => {
        if (!this.#firstWorkedMs.has(job.messageId)) {
          this.#firstWorkedMs.set(job.messageId, this.#time.nowMs);
        }
        const carriers = this.#carriers.map((carrier) => ({ name: carrier.name, carrier }));
        const route = this.#random() < 0.5 ? carriers : carriers.toReversed();
        return handToCarrier(job, inOrder(route, { ...breakers, rateCard: this.#rateCard, remainingTimeMs }));
      },
      async (ended) => countOutcomes(ended.filter((message) => message !== undefined)),
    );
  }

  #newRecorder(): Handler {
    return worker(
      QueuedReport,
      async (report, _remainingTimeMs, queuedAt) => {
        const heard = await recordReport(report, queuedAt);
        if (heard !== undefined) this.#noteProof(heard.message);
        return heard;
      },
      async (heard) => countReceipts(heard.filter((receipt) => receipt !== undefined)),
    );
  }

  #noteProof({ id, deliveryStatus }: MessageRecord): void {
    // A carrier also reports `undelivered` of what it refused.
    const isProof = deliveryStatus === "delivered" || deliveryStatus === "unknown";
    if (isProof && !this.#provenMs.has(id)) this.#provenMs.set(id, this.#time.nowMs);
  }

  #newCarrier(name: keyof typeof costMicros, recognises: boolean): UnreliableCarrier {
    return new UnreliableCarrier(name, recognises, {
      lambda: this.#lambda,
      claimsToRecognise: recognises || this.#mutation === "repeat check",
      observer: {
        isUnwanted: (messageId) => this.#isPutOff(messageId),
        asked: (carrier, messageId) => this.#noteAsked(carrier, messageId),
        answered: (carrier, messageId, behaviour) => {
          this.#observe?.(`${this.#time.nowMs} ${carrier} ${behaviour} ${messageId}`);
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

  /** Puts a report on its queue, where it may be overtaken. */
  #report(report: ReportJob): void {
    const body = JSON.stringify(reportJob(report).body);
    this.#observe?.(`${this.#time.nowMs} ${body}`);
    const delayMs = this.#random() < overtakenOdds ? this.#random() * overtakenWithinMs : 0;
    this.#reports.put(body, delayMs);
  }

  async #judge(): Promise<Outcome> {
    for (const job of this.#refunds.splice(0)) await refundMessage(MessageJob.parse(job));
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
      this.#problems.push(`the costs are ${costs.recorded}, and the carriers take ${costs.charged}`);
    }
    this.#problems.push(...(await this.#people.problems(organizationId)));
    const { findings } = await auditWallet(organizationId);
    const problems = [...this.#problems, ...findings];
    return { problems, ends, passedOn: this.#askedSecond.size, shownByReceipt };
  }

  /** What carriers take for a message, in micro-units. */
  #chargeOf(id: string): number {
    const [alpha, beta] = this.#carriers;
    return (alpha.segments.get(id) ?? 0) * costMicros.alpha + (beta.segments.get(id) ?? 0) * costMicros.beta;
  }

  #factsOf(id: string): Facts {
    return {
      takes: new Map(this.#carriers.map(({ name, taken }) => [name, taken.get(id) ?? 0])),
      wasPutOff: this.#putOff.get(id),
      firstWorkedMs: this.#firstWorkedMs.get(id),
      provenMs: this.#provenMs.get(id),
    };
  }

  /** Puts the table, the queues and the clocks of this world in the place of AWS's. @returns what puts them back */
  takeOver(): () => void {
    return takeOver({
      nowMs: () => this.#lambda.nowMs(),
      random: this.#random,
      sleep: async (delayMs) => this.#lambda.wait(delayMs),
      after: (delayMs, happen) => this.#time.after(delayMs, happen),
      request: async (_, command) => this.#request(command),
      enqueue: async (command) => this.#enqueue(command),
    });
  }

  async #request(command: object): Promise<unknown> {
    this.#requests += 1;
    const name = `${this.#requests} ${this.#lambda.current?.instance.name ?? ""}`;
    this.#observe?.(`${this.#time.nowMs} ${name} ${describe(command)}`);
    await this.#lambda.wait(0);
    // It arrives whatever becomes of its sender.
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
    const times = this.#putOff.get(messageId);
    if (times !== "once") return times === "for ever";
    const isFirst = !this.#putOffOnce.has(messageId);
    this.#putOffOnce.add(messageId);
    return isFirst;
  }

  /** Decides what a message that was just accepted is to go through. @returns after how long it is taken up first */
  #plan(messageId: string): number {
    this.#accepted += 1;
    if (this.#accepted % unwantedEvery === 0) {
      this.#putOff.set(messageId, "for ever");
      return unwantedMs;
    }
    if (this.#accepted % lateEvery > 0) return 0;
    this.#putOff.set(messageId, "once");
    return lateMs;
  }
}
