import { workers } from "../../infra/workers.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { getPayment } from "../../shared/money/payments/get.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import type { ProviderNotice } from "../../shared/money/payments/provider.ts";
import { receiveEvent } from "../../shared/money/payments/receive-event.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { comparePayments, visitPayments } from "../../shared/money/payments/reconcile.ts";
import { PaymentRecord } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { newWallet, WalletRecord } from "../../shared/money/wallet/record.ts";
import {
  DeleteCommand,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "../../shared/platform/aws/dynamodb.ts";
import { SendMessageBatchCommand, SendMessageCommand } from "../../shared/platform/aws/sqs.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { shardOf } from "../../shared/platform/jobs/shards.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { between, oneOf, type Random } from "../chaos/random.ts";
import { withOwnClass } from "./command-classes.ts";
import { MemoryBucket, storeDocuments } from "./documents.ts";
import { Lambda, QueueWorker, type Handler } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import * as present from "./money-path.ts";
import { mutateRequest, mutatedAnswer, type PaymentMutation } from "./payment-mutations.ts";
import { ModelProvider } from "./payment-provider.ts";
import { PaymentVerdict, WriteChecks } from "./payment-verdict.ts";
import type { Intent } from "./provider-account.ts";
import { replace } from "./replace.ts";
import { takeOver } from "./runtime.ts";
import type { MoneyPath } from "./simulation.ts";
import { describe, type Observe } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";

/*
 * Payments of two customers at a provider that misbehaves. They are processed by functions that die, on a table in memory.
 * Events of the provider are lost, doubled and late. All of it follows from random numbers: the same numbers repeat a run.
 */

const organizationIds = ["org_01J00000000000000000000000", "org_01J00000000000000000000001"] as const;

/** The actions of a schedule. Each kind happens as often as it is named. */
const kinds = [
  "checkout",
  "checkout",
  "saved card",
  "saved card",
  "announced transfer",
  "transfer",
  "refund",
  "refund",
  "refund there",
  "dispute",
  "dispute",
  "send",
  "send",
  "send",
  "send",
  "auto-recharge",
  "auto-recharge",
  "remove card",
  "look",
  "outage",
] as const;
type Kind = (typeof kinds)[number];

/** An action of a customer or operator, or an event that the provider delivers. */
type Action =
  | { readonly kind: Kind; readonly organizationId: string }
  | { readonly kind: "event"; readonly notice: ProviderNotice }
  | { readonly kind: "record transfer"; readonly transfer: Parameters<typeof recordTransfer>[0] }
  | { readonly kind: "record refund"; readonly refund: Parameters<typeof recordRefund> };

/** The number of actions of a schedule, and how long they and the faults last. */
const actions = { least: 4, most: 24 };
const longestMs = 30 * hourMs;

/** How often an event is delivered, and after how long. */
const lostOdds = 0.15;
const doubledOdds = 0.5;

const priceMicros = 700_000;

/** The time between two looks for due work. */
const tickMs = 5 * minuteMs;

/** A payment is at rest after this time without faults: cards, refunds, disputes and checkouts take at most a day. */
const restMs = 5 * dayMs;

/** The longest time from the first charge of a card that never succeeds until auto-recharge is switched off. */
const maxRechargeDays = 10;

const requestFaults = [
  "request lost",
  "response lost",
  "server error",
  "late",
  "throttled",
  "conflict",
  "dies before",
  "dies after",
] as const;
const requestFaultOdds = 0.05;

const settings = {
  cards: "stripe",
  bankTransfer: "Pay to our account.",
  minimum: "1.00",
  maximum: "1000.00",
  seller: { name: "Example SMS Ltd", address: ["1 Sample Street"], country: "DE" },
  // A rate that makes parts of cents.
  tax: { rates: { DE: 19 } },
};

export interface Outcome {
  /** All problems, in words. */
  readonly problems: readonly string[];
  /** The actions that happened, and how often. */
  readonly seen: ReadonlyMap<string, number>;
}

interface Options {
  /** The actions of the schedule, by default all. */
  readonly kinds?: readonly Kind[];
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
  readonly #kinds: readonly Kind[];
  readonly #mutation: PaymentMutation | undefined;
  readonly #observe: Observe | undefined;
  readonly #releases: readonly MoneyPath[];
  readonly #time: VirtualTime;
  readonly #lambda: Lambda;
  readonly #table = new MemoryTable();
  readonly #bucket = new MemoryBucket();
  readonly #provider: ModelProvider;
  readonly #people: QueueWorker;
  readonly #payments: QueueWorker;
  readonly #schedules: QueueWorker;
  readonly #checks: WriteChecks;
  readonly #seen = new Map<string, number>();
  /** The last payment that a customer began. */
  readonly #started = new Map<string, string>();

  constructor(random: Random, { kinds: chosen = kinds, mutation, observe, releases = [present] }: Options) {
    this.#random = random;
    this.#releases = releases;
    this.#kinds = chosen;
    this.#mutation = mutation;
    this.#observe = observe;
    // Half of the schedules cross the end of a year.
    this.#time = new VirtualTime(new Date(Date.parse("2026-12-30T12:00:00Z") + random() * 2 * dayMs));
    this.#lambda = new Lambda(this.#time, random);
    this.#provider = new ModelProvider(this.#lambda, {
      tells: (notice) => this.#notify(notice),
      observe: (event) => this.#observe?.(event),
    });
    this.#checks = new WriteChecks(this.#table);
    const timeoutMs = workers.processPayment.timeoutSeconds * secondMs;
    this.#people = this.#newWorker("people", timeoutMs, () => async (event) => {
      const failed = [];
      for (const { messageId, body } of event.Records) {
        const action: Action = JSON.parse(body);
        // People read the error. Only the provider repeats an event, and the operator what has no result.
        const isDone = await this.#do(action).then(
          () => true,
          (error: unknown) => this.#isExpected(action, error),
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
    for (let index = 0; index < count; index += 1) this.#plan(this.#random() * spanMs);
    const endMs = this.#time.nowMs + spanMs + hourMs;
    await this.#time.until(this.#tickUntil(endMs, tickMs));
    this.#lambda.isFaulty = false;
    this.#provider.outageUntilMs = 0;
    await this.#time.until(this.#tickUntil(this.#time.nowMs + restMs, 2 * hourMs));
    // A recharge that failed is repeated after a pause, when the customer sends the next time.
    for (const id of organizationIds) this.#put({ kind: "send", organizationId: id });
    await this.#time.until(this.#tickUntil(this.#time.nowMs + 2 * dayMs, 2 * hourMs));
    await this.#time.until(this.#compare());
    // The comparison may have begun a last recharge. Its card may need days, or several attempts.
    for (let day = 0; day < maxRechargeDays && this.#isRecharging(); day += 1)
      await this.#time.until(this.#tickUntil(this.#time.nowMs + dayMs, 2 * hourMs));
    const verdict = new PaymentVerdict({
      table: this.#table,
      bucket: this.#bucket,
      provider: this.#provider,
      checks: this.#checks,
      nowMs: this.#time.nowMs,
    });
    const problems = await this.#time.until(verdict.problems(organizationIds));
    return { problems: [...this.#checks.problems, ...problems], seen: this.#seen };
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
      if (this.#random() < 0.8) this.#provider.saveCard(id);
    }
    await recordTransfer({
      organizationId: organizationIds[0],
      amountMicros: 20_000_000,
      reference: "bank-first",
      reason: "Bank transfer",
    });
  }

  /** Plans an action. Customers and operators act at the same time, and some actions happen again. */
  #plan(afterMs: number): void {
    const kind = oneOf(this.#random, this.#kinds);
    const organizationId = this.#random() < 0.7 ? organizationIds[0] : organizationIds[1];
    const times = this.#random() < 0.3 ? between(this.#random, 2, 4) : 1;
    for (let index = 0; index < times; index += 1)
      this.#put({ kind, organizationId }, afterMs + this.#soon());
  }

  /** A delay after which two actions meet, or in some cases not quite. */
  #soon(): number {
    return this.#random() * (this.#random() < 0.7 ? 100 : minuteMs);
  }

  #put(action: Action, afterMs = 0): void {
    this.#people.put(JSON.stringify(action), afterMs);
  }

  async #do(action: Action): Promise<void> {
    this.#observe?.(`${this.#time.nowMs} ${JSON.stringify(action)}`);
    this.#see(action.kind);
    switch (action.kind) {
      case "event":
        await receiveEvent(JSON.stringify(action.notice), "signature");
        return;
      case "record transfer":
        await recordTransfer(action.transfer);
        return;
      case "record refund":
        await recordRefund(...action.refund);
        return;
      case "checkout":
        return this.#checkOut(action.organizationId);
      case "saved card": {
        const [paymentMethodId] = this.#provider.cardsOf(action.organizationId).slice(-1);
        if (paymentMethodId === undefined) return;
        const request = { amount: this.#amount(), method: "card", saveCard: false, paymentMethodId } as const;
        const { id } = await createPayment(action.organizationId, request);
        this.#started.set(action.organizationId, id);
        return;
      }
      case "announced transfer": {
        const request = { amount: this.#amount(), method: "bank_transfer", saveCard: false } as const;
        const { id: paymentId, amount } = await createPayment(action.organizationId, request);
        this.#recordTransfer({ organizationId: action.organizationId, amount, paymentId });
        return;
      }
      case "transfer":
        this.#recordTransfer({ organizationId: action.organizationId, amount: this.#amount() });
        return;
      case "refund":
        return this.#refund(action.organizationId);
      case "refund there": {
        const intent = this.#somePaid(action.organizationId);
        const share = this.#random() < 0.3 ? 1 : this.#random();
        if (intent !== undefined && this.#provider.leftOf(intent) > 0)
          this.#provider.refundThere(intent, share);
        return;
      }
      case "dispute": {
        const intent = this.#somePaid(action.organizationId);
        if (intent !== undefined) this.#provider.dispute(intent);
        return;
      }
      case "send":
        await this.#someRelease().sendBlock(action.organizationId, between(this.#random, 1, 8));
        return;
      case "auto-recharge":
        await setAutoRecharge(action.organizationId, {
          isEnabled: this.#random() < 0.85,
          threshold: between(this.#random, 1, 15),
          amount: between(this.#random, 100, 1_500) / 100,
          monthlyCap: between(this.#random, 15, 45),
        });
        return;
      case "remove card": {
        const card = this.#provider.cardsOf(action.organizationId)[0];
        const customer = this.#provider.customerOf(action.organizationId);
        if (card !== undefined) await stripeProvider.removeMethod(customer, card);
        if (this.#random() < 0.8) this.#provider.saveCard(action.organizationId);
        return;
      }
      case "look": {
        const { organizationId } = action;
        const paymentId = this.#started.get(organizationId);
        if (paymentId !== undefined) await getPayment({ organizationId, paymentId });
        return;
      }
      case "outage":
        this.#provider.outageUntilMs = this.#time.nowMs + this.#random() * 3 * hourMs;
    }
  }

  /** A customer opens a checkout, and pays there, sometimes late, or never. */
  async #checkOut(organizationId: string): Promise<void> {
    const saveCard = this.#random() < 0.5;
    const request = { amount: this.#amount(), method: "card", saveCard } as const;
    const { id, checkoutUrl = "" } = await createPayment(organizationId, request);
    this.#started.set(organizationId, id);
    if (this.#random() < 0.25) return;
    this.#time.after(this.#random() ** 3 * 1.1 * hourMs, () => this.#pay(checkoutUrl, organizationId));
  }

  /** The customer returns to the gateway after the payment, or closes the page. */
  #pay(url: string, organizationId: string): void {
    if (!this.#provider.pay(url)) return;
    this.#see("paid");
    if (this.#random() < 0.5) this.#put({ kind: "look", organizationId }, this.#soon());
  }

  /** The operator records a transfer, at the same time as a colleague in some cases. */
  #recordTransfer({
    amount,
    ...others
  }: {
    organizationId: string;
    amount: number;
    paymentId?: string;
  }): void {
    if (this.#random() < 0.2) return;
    const isNamed = this.#random() < 0.7;
    const { paymentId, organizationId } = others;
    const reference = this.#random() < 0.05 ? "bank-first" : newId("txn");
    const transfer = {
      organizationId,
      amountMicros: Math.round(amount * 1e6),
      reference,
      reason: "Bank transfer",
      ...(isNamed && paymentId !== undefined ? { paymentId } : {}),
    };
    const afterMs = this.#random() * 2 * hourMs;
    const times = this.#random() < 0.5 ? 2 : 1;
    for (let index = 0; index < times; index += 1)
      this.#put({ kind: "record transfer", transfer }, afterMs + this.#soon());
  }

  #refund(organizationId: string): void {
    const paid = this.#records(PaymentRecord, "payment").filter(
      (payment) => payment.organizationId === organizationId && payment.status === "succeeded",
    );
    if (paid.length === 0) return;
    const { id: paymentId, amountMicros } = oneOf(this.#random, paid);
    const share = Math.max(10_000, Math.round((amountMicros * this.#random()) / 10_000) * 10_000);
    const amount = this.#random() < 0.3 ? {} : { amountMicros: share };
    const refund = { id: newId("txn").replace("txn", "rfd"), reason: "Refund", ...amount };
    const action: Action = { kind: "record refund", refund: [{ organizationId, paymentId }, refund] };
    this.#put(action);
    if (this.#random() < 0.3) this.#put(action, this.#soon());
  }

  /** Whether an error needs no other attempt by its caller. */
  #isExpected({ kind }: Action, error: unknown): boolean {
    if (!(error instanceof Error)) throw error;
    this.#observe?.(`${this.#time.nowMs} ${kind} failed: ${error.message}`);
    const isUnknown = error.name === "Fallible" || /UNAVAILABLE/.test(String(Object(error).code));
    if (kind === "event" || kind === "record transfer" || kind === "record refund") return !isUnknown;
    return true;
  }

  #somePaid(organizationId: string): Intent | undefined {
    const paid = [...this.#provider.intents.values()].filter(
      (intent) => intent.organizationId === organizationId && intent.status === "succeeded",
    );
    return paid.length === 0 ? undefined : oneOf(this.#random, paid);
  }

  #amount(): number {
    return between(this.#random, 100, 3_000) / 100;
  }

  /** Delivers an event to the gateway: late, more than once, or never. */
  #notify(notice: ProviderNotice): void {
    this.#observe?.(`${this.#time.nowMs} event ${JSON.stringify(notice)}`);
    if (this.#random() < lostOdds) return;
    const times = this.#random() < doubledOdds ? 2 : 1;
    const delayMs = this.#random() * oneOf(this.#random, [5 * secondMs, 5 * secondMs, hourMs, 9 * hourMs]);
    for (let index = 0; index < times; index += 1)
      this.#put({ kind: "event", notice }, delayMs + this.#soon());
  }

  /** Starts the scheduled functions when they have work, so that most of time passes without a request. */
  async #tickUntil(endMs: number, stepMs: number): Promise<void> {
    let comparedMs = this.#time.nowMs;
    while (this.#time.nowMs < endMs) {
      await this.#time.sleep(stepMs * (0.5 + this.#random()));
      this.#followEmails();
      this.#releaseJobs();
      for (const what of ["PAYMENT", "SETTLE"] as const) {
        for (const shard of this.#shardsWithDue(what)) this.#schedules.put(JSON.stringify({ what, shard }));
      }
      if (this.#time.nowMs - comparedMs < dayMs) continue;
      comparedMs = this.#time.nowMs;
      this.#schedules.put(JSON.stringify({ what: "compare" }));
    }
    const giveUpMs = this.#time.nowMs + dayMs;
    while (!(this.#people.isEmpty && this.#payments.isEmpty && this.#schedules.isEmpty)) {
      await this.#time.sleep(minuteMs);
      if (this.#time.nowMs < giveUpMs) continue;
      this.#checks.problems.push("some jobs came to no end");
      return;
    }
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

  /** Whether a recharge is in progress, or the fee of one is not known yet. */
  #isRecharging(): boolean {
    return (
      this.#records(WalletRecord, "wallet").some(({ rechargeId }) => rechargeId !== undefined) ||
      this.#records(PaymentRecord, "payment").some(
        ({ origin, status, feeAt }) =>
          origin === "auto_recharge" && status === "succeeded" && feeAt === undefined,
      )
    );
  }

  /** An unknown payment of the provider would be one that the gateway lost. */
  async #compare(): Promise<void> {
    const differences = await comparePayments().catch(() => []);
    if (this.#lambda.isFaulty) return;
    for (const difference of differences)
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

  /** Customers confirm some of the payments that they got an email about. */
  #followEmails(): void {
    for (const payment of this.#records(PaymentRecord, "payment")) {
      const { status, failure, checkoutUrl, organizationId } = payment;
      const isAsked = status === "pending" && failure === "authentication_required";
      if (isAsked && checkoutUrl !== undefined && this.#random() < 0.05)
        this.#pay(checkoutUrl, organizationId);
    }
  }

  #records<Item>(schema: { parse: (item: unknown) => Item }, entity: string): Item[] {
    return this.#table
      .all()
      .filter((item) => item["entity"] === entity)
      .map((item) => schema.parse(item));
  }

  #see(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }

  /** Replaces the provider, the table, the queues and the clocks with those of this world. @returns what restores them */
  takeOver(): () => void {
    const restores = [
      takeOver({
        nowMs: () => this.#lambda.nowMs(),
        random: this.#random,
        sleep: async (delayMs) => this.#lambda.wait(delayMs),
        after: (delayMs, happen) => this.#time.after(delayMs, happen),
        log: (line) => this.#noteLog(line),
      }),
      ...this.#releases.map((release) =>
        release.connect({
          request: async (client, command) => this.#request(release, client, withOwnClass(command)),
          enqueue: async (command) => this.#enqueue(withOwnClass(command)),
        }),
      ),
      storeDocuments(
        async (key) => this.#s3(() => this.#bucket.put(key)),
        async (key) => this.#s3(() => this.#bucket.keys.has(key)),
      ),
      ...Object.keys(stripeProvider).map((name) =>
        replace(stripeProvider, name, (...args: unknown[]): unknown =>
          Reflect.apply(Reflect.get(this.#provider, name), this.#provider, args),
        ),
      ),
    ];
    process.env[environmentNames.payments] = JSON.stringify(settings);
    process.env[environmentNames.apiUrl] = "https://sms.example/v1";
    return () => {
      for (const restore of restores) restore();
    };
  }

  #noteLog(line: string): void {
    // Metrics count on from an earlier run, and the stack of an error depends on the caller of the model.
    if (line.startsWith('{"_aws"')) return;
    this.#observe?.(line.replaceAll(/"stack":"(?:[^"\\]|\\.)*"/g, ""));
    if (/record\.unreadable|payment\.amount_differs|TypeError/.test(line)) this.#checks.problems.push(line);
  }

  /** A request to DynamoDB, with the client's retries. */
  async #request(release: MoneyPath, client: object, command: object): Promise<unknown> {
    // The rate limit of calls to the provider is no part of the model.
    if (command instanceof UpdateCommand && String(command.input.Key?.["pk"]).startsWith("LIMIT#"))
      return { Attributes: {} };
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#attempt(command);
      } catch (error) {
        if (!(error instanceof Fallible && release.repeats(client, { error, attempts }))) throw error;
      }
    }
  }

  async #attempt(command: object): Promise<unknown> {
    await this.#lambda.wait(this.#lambda.wayMs());
    const fault = this.#lambda.happens(requestFaultOdds) ? oneOf(this.#random, requestFaults) : undefined;
    if (fault !== undefined) this.#observe?.(`${this.#time.nowMs} fault: ${fault}`);
    switch (fault) {
      case "request lost":
        throw new Fallible("TimeoutError");
      case "throttled":
        throw new Fallible("ProvisionedThroughputExceededException");
      case "conflict":
        throw new Fallible("TransactionConflictException");
      case "dies before":
        await this.#die();
        break;
      case "late":
        this.#time.after(this.#random() * minuteMs, () => this.#carryOutUnheard(command));
        throw new Fallible("TimeoutError");
      case "response lost":
      case "server error":
        this.#carryOutUnheard(command);
        throw fault === "response lost"
          ? new Fallible("TimeoutError")
          : new Fallible("InternalServerError", 500);
      case "dies after":
        this.#carryOutUnheard(command);
        await this.#die();
        break;
      case undefined:
    }
    const answer = this.#carryOut(command);
    await this.#lambda.wait(this.#lambda.wayMs());
    return mutatedAnswer(this.#mutation, command, answer);
  }

  #carryOutUnheard(command: object): void {
    try {
      this.#carryOut(command);
    } catch {
      // A rejection whose response is lost changes nothing.
    }
  }

  #carryOut(command: object): unknown {
    mutateRequest(this.#mutation, command);
    const isRead = command instanceof GetCommand || command instanceof QueryCommand;
    const isOld = isRead && command.input.ConsistentRead !== true && this.#lambda.happens(0.3);
    this.#observe?.(`${this.#time.nowMs} ${this.#lambda.current?.instance.name ?? ""} ${describe(command)}`);
    const isNew = !(command instanceof TransactWriteCommand) || this.#checks.isNew(command);
    try {
      const answer = this.#table.carryOut(command, isOld);
      this.#observe?.(JSON.stringify(answer));
      if (isNew) this.#checks.note(command);
      return answer;
    } catch (error) {
      this.#observe?.(String(error));
      throw error;
    }
  }

  /** A request to S3. */
  async #s3<Result>(apply: () => Result): Promise<Result> {
    await this.#lambda.wait(this.#lambda.wayMs());
    const fault = this.#lambda.happens(requestFaultOdds) ? oneOf(this.#random, requestFaults) : undefined;
    if (fault === "dies before") await this.#die();
    if (fault === "request lost" || fault === "throttled") throw new Fallible("TimeoutError");
    const result = apply();
    if (fault === "dies after") await this.#die();
    if (fault !== undefined) throw new Fallible("TimeoutError");
    await this.#lambda.wait(this.#lambda.wayMs());
    return result;
  }

  async #die(): Promise<void> {
    if (this.#lambda.current === undefined) return;
    this.#lambda.die();
    await this.#lambda.wait(0);
  }

  async #enqueue(command: object): Promise<unknown> {
    await this.#lambda.wait(this.#lambda.wayMs());
    if (this.#lambda.happens(requestFaultOdds)) {
      if (this.#random() < 0.5) await this.#die();
      throw new Error("the queue is down");
    }
    this.#observe?.(`${this.#time.nowMs} ${describe(command)}`);
    const sent =
      command instanceof SendMessageCommand
        ? [command.input]
        : command instanceof SendMessageBatchCommand
          ? (command.input.Entries ?? []).map((entry) => ({ ...entry, QueueUrl: command.input.QueueUrl }))
          : [];
    for (const { QueueUrl = "", MessageBody = "" } of sent) {
      if (QueueUrl.endsWith("payments")) this.#payments.put(MessageBody);
    }
    await this.#lambda.wait(this.#lambda.wayMs());
    return {};
  }
}

/** A failed request's error, as the client sees it. */
class Fallible extends Error {
  override readonly name: string;
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(name: string, httpStatusCode?: number) {
    super(name);
    this.name = name;
    this.$metadata = httpStatusCode === undefined ? {} : { httpStatusCode };
  }
}
