import { AsyncLocalStorage } from "node:async_hooks";

import { CampaignRecord } from "../../shared/audience/campaigns/record.ts";
import { CountsRecord } from "../../shared/messages/counts/counts.ts";
import { emptyTally, type Tally } from "../../shared/messages/counts/figures.ts";
import { added } from "../../shared/messages/counts/rows.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { isLow, WalletRecord } from "../../shared/money/wallet/record.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import * as dynamodb from "../../shared/platform/aws/dynamodb.ts";
import * as sqs from "../../shared/platform/aws/sqs.ts";
import { dayMs, dayOf, epochSeconds, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { firstIdAt, isTestId } from "../../shared/platform/ids.ts";
import { shardCount } from "../../shared/platform/jobs/shards.ts";
import { queueNames, type QueueName } from "../../shared/platform/queue-names.ts";
import { daySortKey } from "../../shared/platform/table/shards.ts";
import { oneOf, randomFrom, type Random } from "../chaos/random.ts";
import { withOwnClass } from "./command-classes.ts";
import { MemoryTable } from "./memory-table.ts";
import * as present from "./money-path.ts";
import { takeOver } from "./runtime.ts";
import { describe, type Observe } from "./trace.ts";
import { settled } from "./virtual-time.ts";

/*
 * Runs the project's own money path against a table in memory, step by step. A list of choices decides the order and the
 * faults. In all cases the books must be in order once the faults have ended and the reconciler has run.
 * With several releases of the money path, one of them is chosen at random for each function call.
 */

export type MoneyPath = typeof present;

export type Step =
  | { readonly kind: "advance"; readonly minutes: number }
  /** A number of messages that are paid and recorded together, as those of a campaign. */
  | { readonly kind: "block"; readonly messages: number }
  /** Cancels one of the scheduled messages. */
  | { readonly kind: "cancel" }
  /** Launches the campaign, cancels it, or lets a worker continue it. */
  | { readonly kind: "cancelCampaign" }
  | { readonly kind: "launchCampaign" }
  | { readonly kind: "runCampaign" }
  /** The operator caps the spending of a day at the price of a number of one-segment messages, or removes the cap. */
  | { readonly kind: "capSpending"; readonly messages: number | "none" }
  /** The operator imports a price for a segment to any number. */
  | { readonly kind: "changePrice"; readonly priceMicros: number }
  /** A person approves or rejects one of the held messages. */
  | { readonly kind: "decide"; readonly isApproved: boolean }
  | { readonly kind: "deliver" }
  | { readonly kind: "reconcile" }
  /** A message that is due in ten minutes. */
  | { readonly kind: "schedule" }
  /** A message with a number of segments. */
  | { readonly kind: "send"; readonly segments: number; readonly key?: "a" | "b" }
  /** A message of an API key: within a daily budget, held for approval, or a test. */
  | { readonly kind: "sendWithKey"; readonly key: "budget" | "held" | "test" }
  | { readonly kind: "topUp"; readonly key?: "c" | "d" };

/** A protection that a test removes, to show that the model would notice. */
export type Mutation =
  | "ambiguity check"
  | "block condition"
  | "budget condition"
  | "cap condition"
  | "held condition"
  | "noted day"
  | "test sender"
  | "void"
  | "throttle-only retry";

const organizationId = "org_01J00000000000000000000000";
const initialMicros = 40_000;
const priceMicros = 7_900;
const keyBudgetMicros = 20_000;
const firstDay = "2026-03-01";
const contactCount = 5;
const faultsInAThousand = 120;

/** The clocks of two functions differ by at most twice this. */
const maxClockErrorMs = 2_000;

const workedQueues = ["campaigns", "marketingSends", "transactionalSends", "refunds"] as const;

const faults = [
  "loseRequest",
  "dropAnswer",
  "answer500",
  "arriveLate",
  "throttle",
  "conflict",
  "dieBefore",
  "dieAfter",
] as const;
type Fault = (typeof faults)[number];

type Item = Readonly<Record<string, unknown>>;

/** A function call. */
interface Operation {
  readonly release: MoneyPath;
  /** The error of its clock. */
  readonly clockErrorMs: number;
  /** The ledger entry of the debit that it tried last. */
  debitEntryId?: string;
}

interface Waiting {
  readonly go: () => void;
}

/** The input of a run. The same plan repeats a run exactly, including all random values. */
export interface Plan {
  readonly steps: readonly Step[];
  /** Decide on order and faults, until they are used up. */
  readonly choices: readonly number[];
  /** Determines ids, tokens, delays and clock errors. */
  readonly seed: number;
  readonly mutation?: Mutation | undefined;
  /** The releases whose functions run over the one table: without it, this release alone. */
  readonly releases?: readonly MoneyPath[] | undefined;
  /** Receives all events. */
  readonly observe?: Observe | undefined;
}

/** Runs one plan, from its first step to the check of the books. */
export async function simulate(plan: Plan): Promise<void> {
  const random = randomFrom(plan.seed);
  const world = new World(plan, random);
  const restores = [
    takeOver({
      nowMs: () => world.nowMs(),
      random,
      sleep: async (delayMs) => world.sleep(delayMs),
      log: (line) => world.noteLog(line),
    }),
    ...world.releases.map((release) =>
      release.connect({
        request: async (client, command) => world.request(client, command),
        enqueue: async (command) => world.enqueue(command),
        messageRetentionDays: world.messageRetentionDays,
      }),
    ),
  ];
  try {
    await world.run(plan.steps);
  } finally {
    for (const restore of restores) restore();
  }
}

/** A carrier that counts how often it accepted each message. An idempotent one accepts a message once. */
interface CountingCarrier extends present.ModelCarrier {
  readonly taken: Map<string, number>;
}

class World {
  // Shortly before midnight, when a new daily spending limit begins.
  timeMs = Date.parse(`${firstDay}T23:40:00Z`);
  readonly table = new MemoryTable();
  readonly queues = new Map<QueueName, unknown[]>(queueNames.map((name) => [name, []]));
  readonly operations = new AsyncLocalStorage<Operation>();
  /** Ids of the messages in successful responses. */
  readonly acceptedMessages = new Set<string>();
  /** How often each debit was applied, by the id of its ledger entry. */
  readonly debits = new Map<string, number>();
  /** All prices of a segment so far. */
  readonly prices = new Set([priceMicros]);
  /** The sum of all debits of a day, in micro-units. */
  readonly spentMicros = new Map<string, number>();
  /** The ledger entries of returned debits. */
  readonly #returned = new Set<unknown>();
  toppedUp = 0;
  /** The carriers of the one route, in their order. */
  readonly #carriers: readonly CountingCarrier[];
  readonly releases: readonly MoneyPath[];
  /** The days until finished messages expire. Empty when they never do. */
  readonly messageRetentionDays: string;
  /** The number of shards of the messages. */
  readonly #shards: number;
  readonly #choices: readonly number[];
  readonly #random: Random;
  readonly #mutation: Mutation | undefined;
  readonly #observe: Observe | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #late: (() => void)[] = [];
  readonly #scheduled: string[] = [];
  readonly #held: string[] = [];
  #campaignId = "";
  #choice = 0;
  #isFaulty = true;
  #failure: Error | undefined;

  constructor({ choices, mutation, observe, releases = [present] }: Plan, random: Random) {
    this.#choices = choices;
    this.releases = releases;
    this.#random = random;
    this.#mutation = mutation;
    this.#observe = observe;
    this.#carriers = ["alpha", "beta"].map((name) => this.#newCarrier(name, this.choose(2) === 0));
    this.#shards = this.choose(2) === 0 ? 1 : 3;
    this.messageRetentionDays = this.choose(2) === 0 ? "" : "45";
  }

  async run(steps: readonly Step[]): Promise<void> {
    this.#isFaulty = false;
    await this.#finish(async (release) => {
      const amount = initialMicros / 1e6;
      const setting = { amount, shards: this.#shards, contacts: contactCount };
      this.#campaignId = await release.openOrganization(organizationId, setting);
      // The scheduler has run each minute until now.
      for (let shard = 0; shard < shardCount; shard += 1) await release.releaseScheduledJobs(shard);
    });
    this.#isFaulty = true;

    let next = 0;
    while (next < steps.length || this.#waiting.length > 0 || this.#late.length > 0) {
      const isStepLeft = next < steps.length;
      const pick = this.choose(this.#waiting.length + this.#late.length + (isStepLeft ? 1 : 0));
      const step = steps[next];
      if (pick < this.#waiting.length) this.#waiting.splice(pick, 1)[0]?.go();
      else if (isStepLeft && step !== undefined && pick === this.#waiting.length) {
        next += 1;
        this.#start(step);
      } else if (next < steps.length || this.#waiting.length > 0) {
        this.#late.splice(pick - this.#waiting.length - (isStepLeft ? 1 : 0), 1)[0]?.();
      } else {
        // Late requests arrive in the end, after the reconciliation.
        break;
      }
      await settled();
    }
    this.#isFaulty = false;
    await this.#bringToAnEnd();
    for (const arrive of this.#late.splice(0)) arrive();
    await this.#bringToAnEnd();
    const day = dayOf(new Date().toISOString());
    // Held messages, budgets and test messages expire before the check.
    const ofKeys = this.table
      .all()
      .filter((item) => isEntity("heldMessage")(item) || isKeyBudget(item) || isTestId(String(item["id"])));
    // Messages that were written and never paid for expire.
    this.timeMs += 8 * dayMs;
    this.table.expire(epochSeconds(new Date()));
    await this.#check(day, ofKeys);
  }

  /** Returns a number below `below`, decided by the choices, or 0 when they are used up. */
  choose(below: number): number {
    const choice = this.#choices[this.#choice] ?? 0;
    this.#choice += 1;
    return below <= 1 ? 0 : choice % below;
  }

  /** The clock of the current function. */
  nowMs(): number {
    return this.timeMs + (this.operations.getStore()?.clockErrorMs ?? 0);
  }

  /** Runs work as a function of one of the releases, with its own clock. */
  #asFunction<Result>(work: (release: MoneyPath) => Result): Result {
    const clockErrorMs = Math.round((this.#random() * 2 - 1) * maxClockErrorMs);
    const [first = present, ...others] = this.releases;
    const release = others.length === 0 ? first : oneOf(this.#random, this.releases);
    this.#observe?.(`a function of release ${this.releases.indexOf(release)}`);
    return this.operations.run({ release, clockErrorMs }, () => work(release));
  }

  /** Fails the run when a function found an item that it cannot read. */
  noteLog(line: string): void {
    if (line.includes("record.unreadable")) this.#failure = new Error(line);
  }

  /** Waits as a function does. A time limit of seconds passes only by a fault: other work ends before it. */
  async sleep(delayMs: number): Promise<void> {
    const isLimit = delayMs >= secondMs;
    if (isLimit && (!this.#isFaulty || this.choose(8) !== 1)) return never();
    return this.turn();
  }

  /** Waits until the choices resume this operation. */
  async turn(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ go });
    });
  }

  #start(step: Step): void {
    const isExpected = (error: unknown): void => {
      // The caller gets an error, or a worker's job is delivered again. Both are fine while the books are in order.
      if (!(error instanceof Error)) this.#failure = new Error(String(error));
    };
    this.#asFunction((release) => void this.#do(step, release).catch(isExpected));
  }

  async #do(step: Step, release: MoneyPath): Promise<void> {
    switch (step.kind) {
      case "advance":
        this.timeMs += step.minutes * minuteMs;
        return;
      case "reconcile":
        await release.reconcile(organizationId);
        return;
      case "deliver":
        return this.#deliverOne(release);
      case "topUp":
        await release.topUp(organizationId, step.key);
        if (step.key === undefined) this.toppedUp += 1;
        return;
      case "send":
        this.acceptedMessages.add(await release.sendMessage(organizationId, step));
        return;
      case "schedule": {
        const scheduledAt = new Date(Date.now() + 10 * minuteMs).toISOString();
        const id = await release.sendMessage(organizationId, { segments: 1, scheduledAt });
        this.acceptedMessages.add(id);
        this.#scheduled.push(id);
        return;
      }
      case "cancel": {
        const id = this.#scheduled[this.choose(this.#scheduled.length)];
        if (id !== undefined) await release.cancelMessage(organizationId, id);
        return;
      }
      case "capSpending": {
        const { messages } = step;
        await release.capSpending(organizationId, messages === "none" ? messages : messages * priceMicros);
        return;
      }
      case "changePrice":
        this.prices.add(step.priceMicros);
        await release.changePrice(step.priceMicros);
        return;
      case "launchCampaign":
        await release.launchCampaign(organizationId, this.#campaignId);
        return;
      case "cancelCampaign":
        await release.cancelCampaign(organizationId, this.#campaignId);
        return;
      case "runCampaign":
        await release.continueCampaign(organizationId, this.#campaignId);
        return;
      case "sendWithKey": {
        const id = await release.sendWithKey(organizationId, step.key);
        if (step.key === "held") this.#held.push(id);
        if (step.key === "budget") this.acceptedMessages.add(id);
        return;
      }
      case "decide": {
        const id = this.#held[this.choose(this.#held.length)];
        if (id !== undefined) await release.decideHeld(organizationId, id, step.isApproved);
        return;
      }
      case "block":
        for (const id of await release.sendBlock(organizationId, step.messages))
          this.acceptedMessages.add(id);
    }
  }

  /** Processes a job of a queue. In half of the cases the job stays there for a second delivery. */
  async #deliverOne(release: MoneyPath): Promise<void> {
    const queue = workedQueues[this.choose(workedQueues.length)] ?? "refunds";
    const jobs = this.queues.get(queue) ?? [];
    const index = this.choose(jobs.length);
    const job = jobs[index];
    if (job === undefined) return;
    // A refund's job may end in the dead-letter queue after hours of failures. The refund must not depend on it.
    if (queue === "refunds" && this.choose(3) === 1) return void jobs.splice(index, 1);
    await this.#process(release, queue, job);
    if (this.choose(2) === 0) jobs.splice(jobs.indexOf(job), 1);
  }

  async #process(release: MoneyPath, queue: QueueName, job: unknown): Promise<void> {
    const id: unknown = Object(job).messageId;
    // The mutation lets test messages reach a live carrier.
    if (this.#mutation === "test sender" && typeof id === "string" && isTestId(id))
      await this.#carriers[0]?.submit(id);
    await release.processJob(queue, job, this.#carriers);
  }

  /** Runs the reconciler and the workers without faults, until no work is left. */
  async #bringToAnEnd(): Promise<void> {
    // A campaign may wait for the cap to be removed.
    await this.#finish(async (release) => release.capSpending(organizationId, "none"));
    for (let round = 0; round < 8; round += 1) {
      this.timeMs += graceMs + minuteMs;
      await this.#finish(async (release) => {
        const failed = await release.reconcile(organizationId);
        if (failed > 0) this.#failure = new Error("the wallet does not add up");
      });
      for (const shard of this.#shardsWithDueJobs())
        await this.#finish(async (release) => release.releaseScheduledJobs(shard));
      for (const queue of workedQueues) {
        const jobs = this.queues.get(queue) ?? [];
        for (const job of jobs.splice(0)) {
          await this.#finish(async (release) => this.#process(release, queue, job)).catch(() =>
            jobs.push(job),
          );
        }
      }
    }
  }

  /** The shards with a due job. Only these are read, to save time. */
  #shardsWithDueJobs(): Set<number> {
    const due = this.table
      .all()
      .filter(isEntity("dueJob"))
      .filter(({ dueAt }) => Date.parse(String(dueAt)) <= this.timeMs);
    return new Set(due.map(({ pk }) => Number(String(pk).at(-1))));
  }

  /** Runs work to its end, with no other operation at the same time. */
  async #finish(work: (release: MoneyPath) => Promise<unknown>): Promise<void> {
    const ended = { isTrue: false };
    const working = this.#asFunction(work).finally(() => {
      ended.isTrue = true;
    });
    // The promise is awaited below. Until then its failure must not count as unhandled.
    working.catch(() => undefined);
    for (let turns = 0; !ended.isTrue; turns += 1) {
      if (turns > 20_000) throw new Error("the work does not end");
      this.#waiting.shift()?.go();
      await settled();
    }
    await working;
  }

  /** A request to DynamoDB, with the client's retries and all faults. */
  async request(client: object, sent: object): Promise<unknown> {
    const command = withOwnClass(sent);
    const operation = this.operations.getStore();
    const debitEntryId = debitEntryIdOf(command);
    if (operation !== undefined && debitEntryId !== undefined) operation.debitEntryId = debitEntryId;
    // The mutation makes the client repeat a debit whose response was lost.
    const changes = this.#mutation === "throttle-only retry" ? { maxUnheardAttempts: 3 } : {};
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#attempt(command);
      } catch (error) {
        const isRepeated =
          error instanceof Fallible &&
          operation?.release.repeats(client, { error, attempts, changes }) === true;
        if (!isRepeated) throw error;
      }
    }
  }

  async #attempt(command: object): Promise<unknown> {
    await this.turn();
    const fault = this.#pickFault();
    switch (fault) {
      case "loseRequest":
        throw new Fallible("TimeoutError");
      case "throttle":
        throw new Fallible("ProvisionedThroughputExceededException");
      case "conflict":
        throw new Fallible("TransactionConflictException");
      case "dieBefore":
        return never();
      case "arriveLate":
        this.#late.push(() => this.#carryOutUnheard(command));
        throw new Fallible("TimeoutError");
      case "dropAnswer":
      case "answer500":
        this.#carryOutUnheard(command);
        throw fault === "dropAnswer"
          ? new Fallible("TimeoutError")
          : new Fallible("InternalServerError", 500);
      case "dieAfter":
        this.#carryOutUnheard(command);
        return never();
      case undefined: {
        const result = this.#carryOut(command);
        await this.turn();
        return result;
      }
    }
  }

  #pickFault(): Fault | undefined {
    if (!this.#isFaulty) return undefined;
    const choice = this.choose(1_000);
    return choice === 0 || choice > faultsInAThousand ? undefined : faults[choice % faults.length];
  }

  #carryOutUnheard(command: object): void {
    try {
      this.#carryOut(command);
    } catch {
      // A rejection whose response is lost changes nothing.
    }
  }

  #carryOut(command: object): unknown {
    const operation = this.operations.getStore();
    const debitEntryId = debitEntryIdOf(command);
    if (this.#mutation === "void" && isVoid(command)) return {};
    if (this.#mutation === "block condition" && command instanceof dynamodb.TransactWriteCommand)
      forgetCondition(command, "CAMPAIGNS#");
    if (this.#mutation === "cap condition") forgetCapCondition(command);
    if (this.#mutation === "budget condition") forgetCondition(command, "LIMIT#");
    if (this.#mutation === "held condition") forgetCondition(command, "HELD#");
    if (this.#mutation === "noted day") forgetNotedDay(command);
    const isOld = this.#isFaulty && needNotBeConsistent(command) && this.choose(4) === 1;
    this.#observe?.(`${this.timeMs} ${describe(command)}`);
    const result = this.table.carryOut(command, isOld);
    this.#observe?.(JSON.stringify(result));
    if (
      this.#mutation === "ambiguity check" &&
      isWalletRead(command) &&
      operation?.debitEntryId !== undefined
    ) {
      return { Item: { ...Object(result).Item, lastId: operation.debitEntryId } };
    }
    if (debitEntryId !== undefined) {
      this.debits.set(debitEntryId, (this.debits.get(debitEntryId) ?? 0) + 1);
      this.#checkSpending(command);
    }
    this.#noteReturned(command);
    this.#checkBalance();
    return result;
  }

  /** A queue accepts a job, or the request is lost. */
  async enqueue(sent: object): Promise<unknown> {
    const command = withOwnClass(sent);
    await this.turn();
    const fault = this.#pickFault();
    if (fault === "dieBefore" || fault === "dieAfter") return never();
    if (fault !== undefined) throw new Error("the queue is down");
    this.#observe?.(`${this.timeMs} ${describe(command)}`);
    if (command instanceof sqs.SendMessageCommand)
      this.#put(command.input.QueueUrl, command.input.MessageBody);
    if (command instanceof sqs.SendMessageBatchCommand) {
      for (const entry of command.input.Entries ?? []) this.#put(command.input.QueueUrl, entry.MessageBody);
    }
    return {};
  }

  #put(url: string | undefined, body: string | undefined): void {
    const name = queueNames.find((each) => url === `memory://${each}`);
    if (name !== undefined) this.queues.get(name)?.push(JSON.parse(body ?? ""));
  }

  #newCarrier(name: string, isIdempotent: boolean): CountingCarrier {
    const taken = new Map<string, number>();
    return {
      name,
      taken,
      isIdempotent,
      submit: async (id) => {
        await this.turn();
        // Most submissions happen after the faults, and their carriers are not reliable either.
        const behavior = this.#isFaulty ? this.choose(8) : Math.floor(this.#random() * 30);
        if (behavior === 1) return "throttled";
        if (behavior === 2) return "rejected";
        if (behavior === 3) throw new Error("the carrier did not accept it");
        if (!isIdempotent || !taken.has(id)) taken.set(id, (taken.get(id) ?? 0) + 1);
        await this.turn();
        if (behavior === 4) throw new Error("the carrier accepted it and broke");
        return "accepted";
      },
    };
  }

  #checkBalance(): void {
    for (const item of this.table.all()) {
      if (item["entity"] === "wallet" && Number(item["balanceMicros"]) < 0) {
        this.#failure = new Error("the balance is negative");
      }
    }
  }

  /** Notes a returned debit, which its day no longer counts as spent. The same command may come twice. */
  #noteReturned(command: object): void {
    if (!(command instanceof dynamodb.TransactWriteCommand)) return;
    for (const { Update } of command.input.TransactItems ?? []) {
      const { UpdateExpression = "", ExpressionAttributeValues: values = {} } = Update ?? {};
      const [, placeholder] = /ADD .*#spentTodayMicros (:\w+)/.exec(UpdateExpression) ?? [];
      const { ":lastId": id, ":spendDay": day } = values;
      if (placeholder === undefined || this.#returned.has(id)) continue;
      this.#returned.add(id);
      this.spentMicros.set(day, (this.spentMicros.get(day) ?? 0) + Number(values[placeholder]));
    }
  }

  /** Checks at each debit that the day's spending is within the cap, and equals that of the wallet. */
  #checkSpending(debit: object): void {
    const wallet = this.table.all().find(isEntity("wallet"));
    const { spendDay, spentTodayMicros, operatorDailyCap } = WalletRecord.parse(wallet);
    const spentMicros = (this.spentMicros.get(spendDay) ?? 0) + amountOfDebit(debit);
    this.spentMicros.set(spendDay, spentMicros);
    if (spentMicros !== spentTodayMicros)
      this.#failure = new Error("the wallet does not know what was spent");
    if (typeof operatorDailyCap === "number" && spentMicros > operatorDailyCap) {
      this.#failure = new Error("more was spent in a day than its cap");
    }
  }

  /** Checks the invariant at the end of a run. */
  async #check(day: string, ofKeys: readonly Item[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const problems: string[] = [];
    for (const release of this.releases) {
      await this.#finish(async () => {
        const { findings, pending } = await release.verifyWallet(organizationId);
        problems.push(...findings, ...pending);
      });
    }

    const items = this.table.all();
    const entries = items.filter(isEntity("ledgerEntry")).map((item) => LedgerEntryRecord.parse(item));
    const messages = items.filter(isEntity("message")).map((item) => MessageRecord.parse(item));
    const [wallet] = items.filter(isEntity("wallet")).map((item) => WalletRecord.parse(item));
    const credits = entries.filter(({ type }) => type === "top_up");
    const kept = messages.filter(({ refund }) => refund !== "done");
    const expectedMicros =
      credits.reduce((sum, { amountMicros }) => sum + amountMicros, 0) -
      kept.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    if (wallet?.balanceMicros !== expectedMicros) {
      problems.push(
        `the balance is ${wallet?.balanceMicros}, but credits less kept messages are ${expectedMicros}`,
      );
    }
    if (wallet?.settledSeq !== wallet?.seq || wallet?.pendingWork !== undefined) {
      problems.push(`the wallet was left unsettled: ${JSON.stringify(wallet)}`);
    }
    if (wallet === undefined || isLow(wallet) !== (wallet.lowBalanceNotedAt !== undefined)) {
      problems.push(`the customer was not notified of the balance: ${JSON.stringify(wallet)}`);
    }
    if (wallet?.messageCount !== messages.length) {
      problems.push(`${wallet?.messageCount} messages are counted, ${messages.length} are there`);
    }
    // Days are counted by the ids of their messages, which may be slightly younger than the times when they were queued.
    for (const each of new Set([firstDay, day])) {
      const from = firstIdAt("msg", new Date(each));
      const to = firstIdAt("msg", new Date(Date.parse(each) + dayMs));
      const ofDay = messages.filter(({ id }) => id >= from && id < to);
      problems.push(...(await this.#problemsOfCounts(ofDay, each)));
    }
    problems.push(...this.#problemsOfAccepted(messages, wallet));
    problems.push(...this.#problemsOfCampaign(messages));
    problems.push(...this.#problemsOfKeys(messages, ofKeys));
    for (const { id, status, refund } of ofKeys
      .filter(isEntity("message"))
      .map((item) => MessageRecord.parse(item))) {
      const isFree = refund === undefined && entries.every(({ messageId }) => messageId !== id);
      if (!isFree || this.#carriers.some(({ taken }) => taken.has(id)))
        problems.push(`${id} is no mere test`);
      // The last release knows no test messages, and drops their jobs.
      if (status === "queued" && this.releases.length === 1) problems.push(`${id} never ended`);
    }
    // One top-up at the start, the successful ones, and at most one for each key.
    if (credits.length < 1 + this.toppedUp) problems.push("a successful top-up is not in the ledger");
    for (const { id, unitPriceMicros, totalMicros, segments } of messages) {
      const isOnePrice = this.prices.has(unitPriceMicros) && totalMicros === segments * unitPriceMicros;
      if (!isOnePrice) problems.push(`${id} has a price that there never was`);
    }
    for (const { id, status } of messages) {
      const paid = entries.filter(({ type, messageId }) => type === "message" && messageId === id).length;
      if (paid !== 1) problems.push(`${id} was paid ${paid} times`);
      if (status === "queued") problems.push(`${id} never ended`);
      const taken = this.#carriers.reduce((sum, { taken: its }) => sum + (its.get(id) ?? 0), 0);
      if (taken > 1) problems.push(`${id} was accepted ${taken} times`);
      if (taken === 0 && status === "sent") problems.push(`${id} is sent, and no carrier has it`);
    }
    for (const [id, times] of this.debits)
      if (times > 1) problems.push(`debit ${id} was applied ${times} times`);
    const stored = new Set(messages.map(({ id }) => id));
    for (const id of this.acceptedMessages)
      if (!stored.has(id)) problems.push(`${id} was accepted and is gone`);
    if (problems.length > 0) throw new Error(problems.join("; "));
  }

  /** Checks that the wallet has counted every message, and no more than there were debits. */
  #problemsOfAccepted(messages: readonly MessageRecord[], wallet: WalletRecord | undefined): string[] {
    const days = new Map(
      this.table
        .all()
        .filter(isEntity("messageCounts"))
        .map((item) => CountsRecord.parse(item))
        .filter(({ acceptedByWallet }) => acceptedByWallet > 0)
        .map(({ sk, acceptedByWallet }) => [sk, acceptedByWallet] as const),
    );
    const { spendDay = "", acceptedToday = 0 } = wallet ?? {};
    const sk = daySortKey(spendDay);
    // A function may have died after it noted the day, and before the wallet was updated.
    days.set(sk, Math.max(days.get(sk) ?? 0, acceptedToday));
    const accepted = [...days.values()].reduce((sum, each) => sum + each, 0);
    const entries = this.table.all().filter(isEntity("ledgerEntry"));
    const debits = entries.filter(({ type }) => type === "message" || type === "void").length;
    if (accepted >= messages.length && accepted <= debits) return [];
    return [`the wallet has counted ${accepted} of ${messages.length} messages, in ${debits} debits`];
  }

  /** Checks that each held message was decided once and at its price, and that the budget covers the messages of its key. */
  #problemsOfKeys(messages: readonly MessageRecord[], ofKeys: readonly Item[]): string[] {
    const problems: string[] = [];
    const approved = new Map(
      ofKeys
        .filter((item) => item["entity"] === "heldMessage" && item["status"] === "approved")
        .map((item) => [item["messageId"], item["totalMicros"]] as const),
    );
    const ofHeld = messages.filter(({ apiKeyId }) => apiKeyId === "key_held");
    if (ofHeld.length !== approved.size)
      problems.push(`${approved.size} approvals made ${ofHeld.length} messages`);
    for (const { id, totalMicros } of ofHeld)
      if (approved.get(id) !== totalMicros) problems.push(`${id} has another price than was approved`);
    let budgetedMicros = 0;
    for (const { uses } of ofKeys.filter(isKeyBudget)) {
      budgetedMicros += Number(uses);
      if (Number(uses) > keyBudgetMicros) problems.push("a key spent more than its budget");
    }
    const spentMicros = messages
      .filter(({ apiKeyId }) => apiKeyId === "key_budget")
      .reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    if (spentMicros > budgetedMicros) problems.push("a key spent more than was counted");
    return problems;
  }

  /** Checks that no contact got two messages, and that the progress matches the messages. */
  #problemsOfCampaign(messages: readonly MessageRecord[]): string[] {
    const [campaign] = this.table
      .all()
      .filter(isEntity("campaign"))
      .map((item) => CampaignRecord.parse(item));
    const sent = messages.filter(({ campaignId }) => campaignId === campaign?.id);
    const chargedMicros = sent.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    const problems: string[] = [];
    if (new Set(sent.map(({ to }) => to)).size !== sent.length) problems.push("a contact got two messages");
    if (campaign?.accepted !== sent.length) problems.push("the campaign's progress is wrong");
    if (campaign?.chargedMicros !== chargedMicros) problems.push("the campaign's price is wrong");
    if (campaign?.status === "sending") problems.push("the campaign never ended");
    if (campaign?.status === "completed" && sent.length !== contactCount) {
      problems.push(`the campaign completed with ${sent.length} of ${contactCount} contacts`);
    }
    return problems;
  }

  /** Checks that closing a day sets its counts to those of the messages, whatever happened to the counters. */
  async #problemsOfCounts(messages: readonly MessageRecord[], day: string): Promise<string[]> {
    const ids = new Set(messages.map(({ id }) => id));
    let isClosed = false;
    await this.#finish(async (release) => {
      isClosed = await release.closeDay(organizationId, { day, shards: this.#shards, ids });
    });
    const counts = this.table
      .all()
      .filter(isEntity("messageCounts"))
      .map((item) => CountsRecord.parse(item))
      .filter(({ sk }) => sk === daySortKey(day));
    const counted = counts.reduce<Tally>(added, emptyTally);
    const total = (status: string): number => messages.filter((each) => each.status === status).length;
    const isExact =
      isClosed &&
      counts.length === this.#shards &&
      counted.accepted === messages.length &&
      counted.sent === total("sent") &&
      counted.failed === total("failed") &&
      counted.cancelled === total("cancelled");
    return isExact ? [] : [`the counts are wrong: ${JSON.stringify(counts)}`];
  }
}

/** A failed request's error, as the client sees it. */
class Fallible extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(name: string, httpStatusCode?: number) {
    super(name);
    this.name = name;
    this.$metadata = httpStatusCode === undefined ? {} : { httpStatusCode };
  }
}

/** The id of the ledger entry of a debit, or undefined for another command. */
function debitEntryIdOf(command: object): string | undefined {
  if (!(command instanceof dynamodb.UpdateCommand)) return undefined;
  const lastId: unknown = command.input.ExpressionAttributeValues?.[":lastId"];
  return typeof lastId === "string" ? lastId : undefined;
}

function amountOfDebit(command: object): number {
  if (!(command instanceof dynamodb.UpdateCommand)) return Number.NaN;
  const { UpdateExpression = "", ExpressionAttributeValues: values = {} } = command.input;
  const [, placeholder = ""] = /ADD .*#balanceMicros (:\w+)/.exec(UpdateExpression) ?? [];
  return -Number(values[placeholder]);
}

/** Loses the wallet's counts of a day when it moves to the next one. */
function forgetNotedDay(command: object): void {
  if (!(command instanceof dynamodb.UpdateCommand)) return;
  const { ExpressionAttributeValues: values = {} } = command.input;
  if (":acceptedByWallet" in values) values[":acceptedByWallet"] = 0;
}

/** Lets a debit pass regardless of the day's cap. */
function forgetCapCondition(command: object): void {
  if (!(command instanceof dynamodb.UpdateCommand)) return;
  const { ConditionExpression } = command.input;
  const others = ConditionExpression?.replace(/#spendLeftMicros >= :\w+ AND/, "");
  if (others !== undefined) command.input.ConditionExpression = others;
}

function isEntity(entity: string): (item: Item) => boolean {
  return (item) => item["entity"] === entity;
}

function isKeyBudget({ pk }: Item): boolean {
  return String(pk).startsWith("LIMIT#key-budget#");
}

function isVoid(command: object): boolean {
  return (
    command instanceof dynamodb.TransactWriteCommand &&
    (command.input.TransactItems ?? []).some(({ Put }) => Put?.Item?.["type"] === "void")
  );
}

/** Lets updates of the partitions with a prefix pass, whatever they require. */
function forgetCondition(command: object, prefix: string): void {
  const updates =
    command instanceof dynamodb.TransactWriteCommand
      ? (command.input.TransactItems ?? []).map(({ Update }) => Update)
      : [command instanceof dynamodb.UpdateCommand ? command.input : undefined];
  for (const update of updates)
    if (String(update?.Key?.["pk"]).startsWith(prefix)) delete update?.ConditionExpression;
}

function needNotBeConsistent(command: object): boolean {
  const isRead = command instanceof dynamodb.GetCommand || command instanceof dynamodb.QueryCommand;
  return isRead && command.input.ConsistentRead !== true;
}

function isWalletRead(command: object): boolean {
  return command instanceof dynamodb.GetCommand && String(command.input.Key?.["pk"]).startsWith("WALLET#");
}

/** A promise of a function that has died. */
async function never(): Promise<never> {
  return new Promise(() => undefined);
}
