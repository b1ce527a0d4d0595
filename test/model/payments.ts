import { workers } from "../../infra/stack/workers.ts";
import { comparePayments } from "../../shared/money/payments/compare.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { visitPayments, workOnPayment } from "../../shared/money/payments/work.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { DeleteCommand } from "../../shared/platform/aws/dynamodb.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { shardOf } from "../../shared/platform/jobs/shards.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { between, oneOf, type Random } from "../chaos/random.ts";
import { MemoryBucket } from "./documents.ts";
import { Lambda, QueueWorker, type Handler } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import * as present from "./money-path.ts";
import { organizationIds, PaymentActions, type Action } from "./payment-actions.ts";
import { PaymentAws } from "./payment-aws.ts";
import type { PaymentMutation } from "./payment-mutations.ts";
import { PaymentVerdict } from "./payment-verdict.ts";
import type { MoneyPath } from "./simulation.ts";
import type { ModelAccount } from "./stripe-account.ts";
import { StripeConnection } from "./stripe-connection.ts";
import { type Observe } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";
import { isRecharging, WriteChecks } from "./write-checks.ts";

/*
 * Payments of two customers at the local Stripe, over a network that misbehaves. They are processed by functions that die, on a
 * table in memory. Events are lost, doubled and late. All of it follows from random numbers: the same numbers repeat a run.
 */

/** The number of actions of a schedule, and how long they and the faults last. */
const actions = { least: 4, most: 24 };
const longestMs = 30 * hourMs;

/** How often an event is delivered, and after how long. */
const lostOdds = 0.15;
const doubledOdds = 0.5;

/** The time between two looks for due work. */
const tickMs = 5 * minuteMs;

/** A payment is at rest after this time without faults: cards, refunds, disputes and checkouts take at most a day. */
const restMs = 5 * dayMs;

/** The longest time from the first charge of a card that never succeeds until auto-recharge is switched off. */
const maxRechargeDays = 10;

const priceMicros = 700_000;

export interface Outcome {
  /** All problems, in words. */
  readonly problems: readonly string[];
  /** The actions that happened, and how often. */
  readonly seen: ReadonlyMap<string, number>;
}

interface Options {
  readonly mutation?: PaymentMutation | undefined;
  /** The releases that charge and reconcile the wallets over the one table: without it, this release alone. */
  readonly releases?: readonly MoneyPath[] | undefined;
  /** Receives all events. */
  readonly observe?: Observe | undefined;
}

/** Runs a random schedule, up to the check of the books. @param random numbers from 0 to below 1 */
export async function makePayments(random: Random, options: Options = {}): Promise<Outcome> {
  const world = new PaymentWorld(random, options);
  const restore = world.takeOver();
  try {
    return await world.run();
  } finally {
    restore();
  }
}

class PaymentWorld {
  readonly #random: Random;
  readonly #mutation: PaymentMutation | undefined;
  readonly #observe: Observe | undefined;
  readonly #releases: readonly MoneyPath[];
  readonly #time: VirtualTime;
  readonly #lambda: Lambda;
  readonly #table = new MemoryTable();
  readonly #bucket = new MemoryBucket();
  readonly #stripe: StripeConnection;
  readonly #people: QueueWorker;
  readonly #payments: QueueWorker;
  readonly #schedules: QueueWorker;
  readonly #checks: WriteChecks;
  readonly #actions: PaymentActions;
  #comparedMs: number;

  constructor(random: Random, { mutation, observe, releases = [present] }: Options) {
    this.#random = random;
    this.#releases = releases;
    this.#mutation = mutation;
    this.#observe = observe;
    // Half of the schedules cross the end of a year.
    this.#time = new VirtualTime(new Date(Date.parse("2026-12-30T12:00:00Z") + random() * 2 * dayMs));
    this.#comparedMs = this.#time.nowMs;
    this.#lambda = new Lambda(this.#time, random);
    this.#stripe = new StripeConnection(
      this.#lambda,
      (body, account) => this.#deliver(body, account),
      (event) => this.#observe?.(event),
    );
    this.#checks = new WriteChecks(this.#table);
    this.#actions = new PaymentActions({
      random,
      time: this.#time,
      table: this.#table,
      stripe: this.#stripe,
      people: () => this.#people,
      release: () => this.#someRelease(),
      observe,
    });
    const timeoutMs = workers.processPayment.timeoutSeconds * secondMs;
    this.#people = this.#newWorker("people", timeoutMs, () => async (event) => {
      const failed = [];
      for (const { messageId, body } of event.Records) {
        const action: Action = JSON.parse(body);
        // People read the error. Only the provider repeats an event, and the operator what has no result.
        const isDone = await this.#actions.do(action).then(
          () => true,
          (error: unknown) => this.#actions.isExpected(action, error),
        );
        if (!isDone) failed.push({ itemIdentifier: messageId });
      }
      return { batchItemFailures: failed };
    });
    this.#payments = this.#newWorker("payments", timeoutMs, () => worker(PaymentJob, workOnPayment));
    const scheduledMs = workers.visitPayments.timeoutSeconds * secondMs;
    this.#schedules = this.#newWorker("schedules", scheduledMs, () => async (event) => {
      // A run that failed is not repeated: the next one follows soon.
      for (const { body } of event.Records)
        await this.#runSchedule(JSON.parse(body)).catch((error: unknown) => this.#observe?.(String(error)));
      return { batchItemFailures: [] };
    });
  }

  /** Replaces the provider, the table, the queues and the clocks with those of this world. @returns what restores them */
  takeOver(): () => void {
    return new PaymentAws({
      random: this.#random,
      lambda: this.#lambda,
      table: this.#table,
      bucket: this.#bucket,
      stripe: this.#stripe,
      checks: this.#checks,
      mutation: this.#mutation,
      releases: this.#releases,
      observe: this.#observe,
      enqueue: (body) => this.#payments.put(body),
    }).takeOver();
  }

  #newWorker(name: string, timeoutMs: number, newHandler: () => Handler): QueueWorker {
    const batchSize = name === "payments" ? 3 : 1;
    return new QueueWorker(this.#lambda, { name, timeoutMs, instances: 3, batchSize, newHandler });
  }

  async run(): Promise<Outcome> {
    this.#lambda.isFaulty = false;
    await this.#time.until(this.#openOrganizations());
    this.#lambda.isFaulty = true;
    const count = between(this.#random, actions.least, actions.most);
    // In most schedules much happens at the same time, and in some a day passes.
    const spanMs = Math.round(longestMs * this.#random() ** 2);
    for (let index = 0; index < count; index += 1) this.#actions.plan(this.#random() * spanMs);
    const endMs = this.#time.nowMs + spanMs + hourMs;
    await this.#time.until(this.#tickUntil(endMs, tickMs));
    this.#lambda.isFaulty = false;
    this.#stripe.outageUntilMs = 0;
    // Payments end only under the keys of their account.
    const { accounts } = this.#stripe;
    const restEndMs = this.#time.nowMs + restMs;
    while (this.#time.nowMs < restEndMs)
      for (const account of accounts.toReversed()) {
        this.#stripe.use(account);
        await this.#time.until(this.#tick(this.#time.nowMs + 2 * hourMs, 2 * hourMs));
      }
    this.#stripe.use(accounts[1]);
    await this.#time.until(this.#compare());
    this.#stripe.use(accounts[0]);
    // Each daily comparison may have met the other account, and the next one may be more than seven days after a lost event.
    await this.#time.until(this.#compare());
    await this.#time.until(this.#tickUntil(this.#time.nowMs + restMs, 2 * hourMs));
    // A recharge that failed is repeated after a pause, when the customer sends the next time.
    for (const id of organizationIds) this.#actions.put({ kind: "send", organizationId: id });
    await this.#time.until(this.#tickUntil(this.#time.nowMs + 2 * dayMs, 2 * hourMs));
    await this.#time.until(this.#compare());
    // The comparison may have begun a last recharge. Its card may need days, or several attempts.
    for (let day = 0; day < maxRechargeDays && isRecharging(this.#table); day += 1)
      await this.#time.until(this.#tickUntil(this.#time.nowMs + dayMs, 2 * hourMs));
    const verdict = new PaymentVerdict({
      table: this.#table,
      bucket: this.#bucket,
      stripe: this.#stripe,
      checks: this.#checks,
      nowMs: this.#time.nowMs,
    });
    const problems = await this.#time.until(verdict.problems(organizationIds));
    return { problems: [...this.#checks.problems, ...problems], seen: this.#actions.seen };
  }

  async #openOrganizations(): Promise<void> {
    await present.changePrice(priceMicros);
    for (const id of organizationIds) {
      await transact({ wallet: newWallet(id, new Date()) });
      const createdAt = new Date().toISOString();
      await putItem(
        putOf(keys.organization(id), {
          entity: "organization",
          id,
          name: "ACME",
          createdAt,
          webhookCount: 0,
        }),
      );
      if (this.#random() < 0.8) await this.#actions.saveCard(id);
    }
    await recordTransfer({
      organizationId: organizationIds[0],
      amountMicros: 20_000_000,
      reference: "bank-first",
      reason: "Bank transfer",
    });
  }

  /** Delivers an event to the gateway: late, more than once, or never. */
  #deliver(body: string, { webhookSecret: secret }: ModelAccount): void {
    this.#observe?.(`${this.#time.nowMs} event ${body}`);
    if (this.#random() < lostOdds) return;
    const times = this.#random() < doubledOdds ? 2 : 1;
    const delayMs = this.#random() * oneOf(this.#random, [5 * secondMs, 5 * secondMs, hourMs, 9 * hourMs]);
    for (let index = 0; index < times; index += 1)
      this.#actions.put({ kind: "event", body, secret }, delayMs + this.#actions.soon());
  }

  /** Starts the scheduled functions when they have work, so that most of time passes without a request. */
  async #tick(endMs: number, stepMs: number): Promise<void> {
    while (this.#time.nowMs < endMs) {
      await this.#time.sleep(stepMs * (0.5 + this.#random()));
      for (const account of this.#stripe.accounts) account.advance();
      this.#actions.followEmails();
      this.#releaseJobs();
      for (const what of ["PAYMENT", "SETTLE"] as const) {
        for (const shard of this.#shardsWithDue(what)) this.#schedules.put(JSON.stringify({ what, shard }));
      }
      if (this.#time.nowMs - this.#comparedMs < dayMs) continue;
      this.#comparedMs = this.#time.nowMs;
      this.#schedules.put(JSON.stringify({ what: "compare" }));
    }
  }

  /** The same, until no job is left. */
  async #tickUntil(endMs: number, stepMs: number): Promise<void> {
    await this.#tick(endMs, stepMs);
    const giveUpMs = this.#time.nowMs + dayMs;
    while (!(this.#people.isEmpty && this.#payments.isEmpty && this.#schedules.isEmpty)) {
      // A job ends only under the keys of the account of its payment.
      this.#stripe.use(oneOf(this.#random, this.#stripe.accounts));
      await this.#time.sleep(minuteMs);
      if (this.#time.nowMs < giveUpMs) continue;
      this.#checks.problems.push("some jobs came to no end");
      break;
    }
    this.#stripe.use(this.#stripe.accounts[0]);
  }

  async #runSchedule({ what, shard }: { what: string; shard: number }): Promise<void> {
    if (what === "PAYMENT") await visitPayments(shard);
    else if (what === "SETTLE") {
      const one = organizationIds.find((id) => shardOf(id) === shard);
      if (one !== undefined) await this.#someRelease().reconcile(one);
    } else await this.#compare();
  }

  /** The release of a function call. The deployment of the present one is complete when the faults end. */
  #someRelease(): MoneyPath {
    const isDeployed = this.#releases.length === 1 || !this.#lambda.isFaulty;
    return isDeployed ? present : oneOf(this.#random, this.#releases);
  }

  /** An unknown payment of the provider would be one that the gateway lost. */
  async #compare(): Promise<void> {
    const differences = await comparePayments().catch(() => []);
    if (this.#lambda.isFaulty) return;
    for (const difference of differences.filter((each) => each.difference !== "other account"))
      this.#checks.problems.push(`the comparison found ${JSON.stringify(difference)}`);
  }

  #shardsWithDue(what: string): Set<number> {
    const now = new Date(this.#time.nowMs).toISOString();
    const shards = new Set<number>();
    for (const { pendingWork, visitAt } of this.#table.all()) {
      if (typeof pendingWork !== "string" || !pendingWork.startsWith(`${what}#`) || String(visitAt) > now)
        continue;
      shards.add(Number(pendingWork.slice(what.length + 1)));
    }
    return shards;
  }

  /** Queues the due jobs of the table as the scheduler does, which would read each minute. */
  #releaseJobs(): void {
    for (const { entity, dueAt, queue, body, pk, sk } of this.#table.all()) {
      if (entity !== "dueJob" || Date.parse(String(dueAt)) > this.#time.nowMs) continue;
      if (queue === "payments") this.#payments.put(JSON.stringify(body));
      this.#table.carryOut(new DeleteCommand({ TableName: "", Key: { pk, sk } }));
    }
  }
}
