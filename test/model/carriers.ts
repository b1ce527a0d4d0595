import { AsyncLocalStorage } from "node:async_hooks";

import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";

import { Breakers } from "../../shared/carriers/breaker.ts";
import type { Carrier, HandOff } from "../../shared/carriers/carrier.ts";
import type { NamedCarrier } from "../../shared/carriers/carriers.ts";
import { acceptMessage } from "../../shared/messages/accept-one.ts";
import { handToCarrier } from "../../shared/messages/hand-to-carrier.ts";
import { MessageJob } from "../../shared/messages/message-job.ts";
import { hearReceipt, type ReceiptOfMessage } from "../../shared/messages/receipts.ts";
import { finalDeliveries, MessageRecord, type FinalDelivery } from "../../shared/messages/record.ts";
import { refundMessage } from "../../shared/messages/refund.ts";
import { segmentsOf } from "../../shared/messages/segments.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/table.ts";
import { documentOf, RateCard } from "../../shared/prices/rate-card.ts";
import { auditWallet } from "../../shared/reconciliation/audit.ts";
import { postToWallet } from "../../shared/wallet/post.ts";
import { newWallet, readWallet } from "../../shared/wallet/record.ts";
import { oneOf } from "../chaos/random.ts";
import { messageIdIn } from "../support/carriers.ts";
import { localSettings } from "../support/local-settings.ts";
import { MemoryTable } from "./memory-table.ts";

/*
 * Messages on their way through two carriers, of which each takes, refuses, puts off, hangs, answers late, cannot be
 * reached or dies with its sender at random, and tells of some by receipts, on a table in memory and by a clock of its own.
 */

const organizationId = "org_01J00000000000000000000000";
const initialMicros = 1_000_000_000;

/** A carrier that hangs is given up after so long, and one that is late answers behind that. */
const carrierTimeoutMs = 4;

/** A queue hides a job that failed for so long. */
const hiddenMs = 120 * secondMs;

/** A receipt comes so long after the carrier has taken a message at the most: before its sender's claim has lapsed, or behind it. */
const maxReceiptMs = 4 * minuteMs;

/** How many of the messages that a carrier takes it tells of, and of how many of those that it refuses. */
const receiptOdds = 0.5;
const receiptOfRefusedOdds = 0.2;

/** What carriers take for a segment, in micro-units. */
const costMicros = { alpha: 3_001, beta: 5_003 };

/** Jobs that are worked on side by side. */
const concurrency = 50;

/** For so long carriers misbehave; what they do behind it brings everything to its end. */
const faultyForMs = hourMs;

/** What is not settled after so many jobs never will be. */
const maxJobsAMessage = 200;

const behaviours = [
  "takes",
  "takes",
  "takes",
  "refuses",
  "is given a number that cannot be",
  "puts off",
  "is not reached",
  "hangs",
  "takes and hangs",
  "takes and is late",
  "takes and breaks",
  "breaks",
  "dies with the sender",
  "takes and dies with the sender",
] as const;

interface Job {
  readonly body: unknown;
  readonly dueMs: number;
}

/** What a carrier will tell of a message. */
interface ComingReceipt extends ReceiptOfMessage {
  readonly dueMs: number;
}

/** One sender at work on one job. */
interface Run {
  isDead: boolean;
  onDeath?: () => void;
}

/** A protection that is taken out, to show that it would be noticed. */
export type CarrierMutation = "claim condition" | "cost by carrier" | "receipt" | "repeat check";

export interface Outcome {
  /** All that is wrong, in words. */
  readonly problems: readonly string[];
  /** How many messages came to each end. */
  readonly ends: ReadonlyMap<string, number>;
  /** How many of them the second carrier was asked about, and how many a receipt alone has shown to be sent. */
  readonly passedOn: number;
  readonly shownByReceipt: number;
}

/** @param random numbers from 0 to below 1 */
export async function carryMessages(
  count: number,
  random: () => number,
  mutation?: CarrierMutation,
): Promise<Outcome> {
  const world = new CarrierWorld(random, mutation);
  const restore = world.takeOver();
  try {
    return await world.run(count);
  } finally {
    restore();
  }
}

class CarrierWorld {
  readonly #table = new MemoryTable();
  readonly #random: () => number;
  readonly #mutation: CarrierMutation | undefined;
  readonly #runs = new AsyncLocalStorage<Run>();
  readonly #problems: string[] = [];
  /** How often a message was taken, by carrier and message; by one that recognises repeats once. */
  readonly #taken = new Map<string, Map<string, number>>();
  /** Questions of which nobody knows what the carrier did, by carrier and message. */
  readonly #open = new Map<string, Map<string, number>>();
  readonly #askedSecond = new Set<string>();
  /** What each message costs us, by what the carrier that took it has noted. */
  readonly #chargedMicros = new Map<string, number>();
  readonly #rateCard: RateCard;
  #receipts: ComingReceipt[] = [];
  #jobs: Job[] = [];
  #refunds: unknown[] = [];
  #timeMs = Date.parse("2026-03-01T12:00:00Z");
  #faultyUntilMs = 0;

  constructor(random: () => number, mutation: CarrierMutation | undefined) {
    this.#random = random;
    this.#mutation = mutation;
    const { alpha, beta } = costMicros;
    const known = mutation === "cost by carrier" ? { alpha: beta, beta: alpha } : costMicros;
    this.#rateCard = new RateCard(documentOf([{ prefix: "44", priceMicros: 1, costMicros: known }]));
  }

  async run(count: number): Promise<Outcome> {
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
    const request = { to: "447700900123", senderId: "ACME", language: "English" } as const;
    for (let sent = 0; sent < count; sent += 1) {
      await acceptMessage(organizationId, { ...request, message: "x".repeat(sent % 3 === 0 ? 200 : 1) });
    }
    this.#faultyUntilMs = this.#timeMs + faultyForMs;
    await this.#workOff(count);
    for (const job of this.#refunds.splice(0)) await refundMessage(MessageJob.parse(job));
    return this.#judge(count);
  }

  async #workOff(count: number): Promise<void> {
    const alpha = this.#carrier("alpha", false);
    const beta = this.#carrier("beta", true);
    // Two of four senders go by what they have seen, each for itself, and the others ask whatever came of it before.
    const breakers = [new Breakers(), undefined, new Breakers(), undefined];
    let worked = 0;
    while (this.#jobs.length > 0) {
      const due = this.#jobs.filter(({ dueMs }) => dueMs <= this.#timeMs).slice(0, concurrency);
      if (due.length === 0) {
        this.#timeMs = Math.min(...this.#jobs.map(({ dueMs }) => dueMs));
        continue;
      }
      const taken = new Set(due);
      this.#jobs = this.#jobs.filter((job) => !taken.has(job));
      await Promise.all([
        ...due.map(async ({ body }, index) => {
          const route = this.#random() < 0.5 ? [alpha, beta] : [beta, alpha];
          await this.#work(body, route, breakers[index % breakers.length]);
        }),
        this.#hearReceipts(),
      ]);
      this.#timeMs += 200;
      worked += due.length;
      if (worked > count * maxJobsAMessage) {
        this.#problems.push(`${this.#jobs.length} jobs have come to no end`);
        return;
      }
    }
  }

  async #hearReceipts(): Promise<void> {
    const due = this.#receipts.filter(({ dueMs }) => dueMs <= this.#timeMs);
    this.#receipts = this.#receipts.filter(({ dueMs }) => dueMs > this.#timeMs);
    const at = new Date().toISOString();
    await Promise.all(due.map(async (receipt) => hearReceipt({ ...receipt, at })));
  }

  async #work(body: unknown, route: readonly NamedCarrier[], breakers: Breakers | undefined): Promise<void> {
    const run: Run = { isDead: false };
    const isDone = this.#runs.run(run, async () =>
      handToCarrier(MessageJob.parse(body), {
        carriers: { routeOf: () => route, named: (name) => route.find((each) => each.name === name) },
        carrierTimeoutMs,
        rateCard: this.#rateCard,
        ...(breakers === undefined ? {} : { breakers }),
      }).then(
        () => true,
        () => false,
      ),
    );
    const died = new Promise<false>((resolve) => {
      run.onDeath = () => resolve(false);
    });
    // What a dead sender held on to comes again, as what a living one has not done.
    if (!(await Promise.race([isDone, died]))) this.#jobs.push({ body, dueMs: this.#timeMs + hiddenMs });
    // The job may come twice all the same.
    if (this.#random() < 0.02) this.#jobs.push({ body, dueMs: this.#timeMs });
  }

  #carrier(name: keyof typeof costMicros, deduplicates: boolean): NamedCarrier {
    const taken = new Map<string, number>();
    const open = new Map<string, number>();
    this.#taken.set(name, taken);
    this.#open.set(name, open);
    const tell = (messageId: string, status: FinalDelivery): void => {
      const dueMs = this.#timeMs + this.#random() * maxReceiptMs;
      this.#receipts.push({ organizationId, messageId, carrier: name, status, at: "", dueMs });
    };
    const take = (id: string, text: string): void => {
      if (deduplicates && taken.has(id)) return;
      taken.set(id, (taken.get(id) ?? 0) + 1);
      const { segments } = segmentsOf(text, { unicode: false });
      this.#chargedMicros.set(id, (this.#chargedMicros.get(id) ?? 0) + costMicros[name] * segments);
      if (this.#random() < receiptOdds) tell(id, oneOf(this.#random, finalDeliveries));
    };
    const carrier: Carrier = {
      deduplicates: deduplicates || this.#mutation === "repeat check",
      send: async ({ reference, text }): Promise<HandOff> => {
        const id = messageIdIn(reference);
        this.#noteAsked(name, id);
        open.set(id, (open.get(id) ?? 0) + 1);
        const surely = <Answer extends HandOff>(answer: Answer): Answer => {
          open.set(id, (open.get(id) ?? 0) - 1);
          return answer;
        };
        const isFaulty = this.#timeMs < this.#faultyUntilMs;
        const behaviour = isFaulty ? behaviours[Math.floor(this.#random() * behaviours.length)] : "takes";
        // Who recognises what it has taken does not refuse it.
        const isKnown = deduplicates && taken.has(id);
        switch (behaviour) {
          case "refuses":
            if (isKnown) break;
            if (this.#random() < receiptOfRefusedOdds) tell(id, "undelivered");
            return surely({ outcome: "refused", errorCode: "MESSAGE_UNROUTABLE" });
          case "is given a number that cannot be":
            if (isKnown) break;
            return surely({ outcome: "refused", errorCode: "MESSAGE_INVALID_DESTINATION" });
          case "puts off":
            return surely({ outcome: "tryLater" });
          case "is not reached":
            return surely({ outcome: "notReached", reason: "ECONNREFUSED" });
          case "hangs":
            return new Promise(() => undefined);
          case "takes and hangs":
            take(id, text);
            return new Promise(() => undefined);
          case "takes and is late":
            take(id, text);
            return new Promise((resolve) => {
              setTimeout(() => resolve({ outcome: "accepted" }), 3 * carrierTimeoutMs);
            });
          case "takes and breaks":
            take(id, text);
            throw new Error("the connection broke");
          case "breaks":
            throw new Error("the connection broke");
          case "takes and dies with the sender":
            take(id, text);
            this.#endSender();
            return new Promise(() => undefined);
          case "dies with the sender":
            this.#endSender();
            return new Promise(() => undefined);
          case "takes":
          case undefined:
        }
        take(id, text);
        return { outcome: "accepted", carrierReference: id };
      },
    };
    return { name, carrier, isDisabled: false };
  }

  #endSender(): void {
    const run = this.#runs.getStore();
    if (run === undefined) return;
    run.isDead = true;
    run.onDeath?.();
  }

  #noteAsked(name: string, id: string): void {
    for (const [other, open] of this.#open) {
      if (other === name || !open.has(id)) continue;
      this.#askedSecond.add(id);
      if ((open.get(id) ?? 0) > 0)
        this.#problems.push(`${name} was asked about ${id}, which ${other} may have`);
    }
  }

  async #judge(count: number): Promise<Outcome> {
    const messages = this.#table.all().filter((item) => item["entity"] === "message");
    if (messages.length !== count) this.#problems.push(`${messages.length} messages are there of ${count}`);
    const ends = new Map<string, number>();
    let sentMicros = 0;
    let shownByReceipt = 0;
    const costs = { recorded: 0, charged: 0 };
    for (const item of messages) {
      const message = MessageRecord.parse(item);
      const { id, status, errorCode, refund, totalMicros, carrier = "" } = message;
      const end = errorCode ?? status;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      const takes = [...this.#taken.values()].reduce((sum, taken) => sum + (taken.get(id) ?? 0), 0);
      if (takes > 1) this.#problems.push(`${id} was taken ${takes} times`);
      if (status === "sent") {
        sentMicros += totalMicros;
        costs.recorded += message.costMicros ?? 0;
        costs.charged += this.#chargedMicros.get(id) ?? 0;
        if (message.carrierReference === undefined) shownByReceipt += 1;
        if (takes === 0) this.#problems.push(`${id} is sent, and nobody has it`);
        if (!(this.#taken.get(carrier)?.has(id) ?? false))
          this.#problems.push(`${carrier} has not got ${id}`);
      } else if (status !== "failed" || refund !== "done") {
        this.#problems.push(`${id} is ${status}, its refund ${refund ?? "not owed"}`);
      } else if (takes > 0 && errorCode !== "MESSAGE_OUTCOME_UNKNOWN") {
        this.#problems.push(`${id} failed with ${errorCode}, and was taken`);
      } else if (
        message.deliveryCarrier === carrier &&
        (message.deliveryAt ?? "Z") < (message.failedAt ?? "")
      ) {
        this.#problems.push(`${id} failed with ${errorCode}, and its receipt had come`);
      }
    }
    const { balanceMicros } = await readWallet(organizationId);
    if (balanceMicros !== initialMicros - sentMicros) this.#problems.push("the money does not add up");
    if (costs.recorded !== costs.charged) {
      this.#problems.push(`the costs are ${costs.recorded}, and the carriers take ${costs.charged}`);
    }
    const { findings } = await auditWallet(organizationId);
    const problems = [...this.#problems, ...findings];
    return { problems, ends, passedOn: this.#askedSecond.size, shownByReceipt };
  }

  /** Puts the table, the queues and the clock of this world in the place of AWS's. @returns what puts them back */
  takeOver(): () => void {
    for (const [name, value] of Object.entries(localSettings)) process.env[name] = value;
    for (const name of queueNames) process.env[environmentNames.queueUrl[name]] = `memory://${name}`;
    process.env[environmentNames.tableName] = "memory";
    const now = (): number => this.#timeMs;
    const restores = [
      replace(DynamoDBDocumentClient.prototype, "send", async (command: object) => this.#request(command)),
      replace(SQSClient.prototype, "send", async (command: object) => this.#enqueue(command)),
      replace(
        globalThis,
        "Date",
        new Proxy(Date, {
          construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
          get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
        }),
      ),
      replace(Math, "random", this.#random),
      replace(process.stdout, "write", () => true),
    ];
    return () => {
      for (const restore of restores) restore();
    };
  }

  async #request(command: object): Promise<unknown> {
    // Others may come in between.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const isRead = command instanceof GetCommand || command instanceof QueryCommand;
    // What the dead would have read may be what others, who are at work in the same instance, wait for.
    if (this.#runs.getStore()?.isDead === true && !isRead) return new Promise(() => undefined);
    if (this.#mutation === "claim condition") forgetCarrierCondition(command);
    const isOld = isRead && command.input.ConsistentRead !== true && this.#random() < 0.3;
    const answer = this.#table.carryOut(command, isOld);
    return this.#mutation === "receipt" ? withoutReceipt(answer) : answer;
  }

  async #enqueue(command: object): Promise<unknown> {
    if (this.#runs.getStore()?.isDead === true) return new Promise(() => undefined);
    const sent =
      command instanceof SendMessageCommand
        ? [command.input]
        : command instanceof SendMessageBatchCommand
          ? (command.input.Entries ?? []).map((entry) => ({ ...entry, QueueUrl: command.input.QueueUrl }))
          : [];
    for (const { QueueUrl = "", MessageBody = "", DelaySeconds = 0 } of sent) {
      const body: unknown = JSON.parse(MessageBody);
      if (QueueUrl.endsWith("refunds")) this.#refunds.push(body);
      else if (QueueUrl.endsWith("Sends"))
        this.#jobs.push({ body, dueMs: this.#timeMs + DelaySeconds * secondMs });
    }
    return {};
  }
}

/** Lets a write show a message as if no receipt of it had come. */
function withoutReceipt(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => (name === "deliveryAt" ? undefined : value)),
  );
}

/** Lets a claim pass whoever was asked before. */
function forgetCarrierCondition(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { ConditionExpression } = command.input;
  const others = ConditionExpression?.replace("#openClaims = :none OR", "#openClaims >= :none OR");
  if (others !== undefined) command.input.ConditionExpression = others;
}

/** Gives a property another value. @returns what puts the old one back */
function replace(target: object, property: string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(target, property);
  Object.defineProperty(target, property, { value, configurable: true, writable: true });
  return () => {
    if (original === undefined) Reflect.deleteProperty(target, property);
    else Object.defineProperty(target, property, original);
  };
}
