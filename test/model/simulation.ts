import { AsyncLocalStorage } from "node:async_hooks";

import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { dayMs, dayOf, epochSeconds, minuteMs } from "../../shared/platform/clock.ts";
import { isTestId } from "../../shared/platform/ids.ts";
import { shardCount } from "../../shared/platform/jobs/shards.ts";
import { queueNames, type QueueName } from "../../shared/platform/queue-names.ts";
import { oneOf, randomFrom, type Random } from "../chaos/random.ts";
import { Actions, type Step } from "./actions.ts";
import { isVoid, isWalletRead, mutateRequest, type Mutation } from "./book-mutations.ts";
import { contactCount, firstDay, organizationId } from "./books-setting.ts";
import { BooksVerdict, isOfKey } from "./books-verdict.ts";
import { CheckedTable, debitEntryIdOf } from "./checked-table.ts";
import { ChosenOrder, never } from "./chosen-order.ts";
import { withOwnClass } from "./command-classes.ts";
import { newCarrier, type CountingCarrier } from "./counting-carrier.ts";
import { attempt, jobsOf, mayBeOld, withRetries } from "./faulty-requests.ts";
import * as present from "./money-path.ts";
import { itemsOf } from "./records.ts";
import { takeOver } from "./runtime.ts";
import { describe, type Observe } from "./trace.ts";

/*
 * Runs the project's own money path against a table in memory, step by step. A list of choices decides the order and the
 * faults. In all cases the books must be in order once the faults have ended and the reconciler has run.
 * With several releases of the money path, one of them is chosen at random for each function call.
 */

export type MoneyPath = typeof present;

const initialMicros = 40_000;

/** The clocks of two functions differ by at most twice this. */
const maxClockErrorMs = 2_000;

const workedQueues = ["campaigns", "marketingSends", "transactionalSends", "refunds"] as const;

/** A function call. */
interface Operation {
  readonly release: MoneyPath;
  /** The error of its clock. */
  readonly clockErrorMs: number;
  /** The ledger entry of the debit that it tried last. */
  debitEntryId?: string;
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
      sleep: async (delayMs) => world.order.sleep(delayMs),
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

class World {
  // Shortly before midnight, when a new daily spending limit begins.
  timeMs = Date.parse(`${firstDay}T23:40:00Z`);
  readonly #checked = new CheckedTable();
  readonly #table = this.#checked.table;
  readonly order: ChosenOrder;
  readonly #actions = new Actions((below) => this.order.choose(below));
  readonly queues = new Map<QueueName, unknown[]>(queueNames.map((name) => [name, []]));
  readonly operations = new AsyncLocalStorage<Operation>();
  /** The carriers of the one route, in their order. */
  readonly #carriers: readonly CountingCarrier[];
  readonly releases: readonly MoneyPath[];
  /** The days until finished messages expire. Empty when they never do. */
  readonly messageRetentionDays: string;
  /** The number of shards of the messages. */
  readonly #shards: number;
  readonly #random: Random;
  readonly #mutation: Mutation | undefined;
  readonly #observe: Observe | undefined;
  constructor({ choices, mutation, observe, releases = [present] }: Plan, random: Random) {
    this.order = new ChosenOrder(choices);
    this.releases = releases;
    this.#random = random;
    this.#mutation = mutation;
    this.#observe = observe;
    this.#carriers = ["alpha", "beta"].map((name) =>
      newCarrier(name, { isIdempotent: this.order.choose(2) === 0, order: this.order, random }),
    );
    this.#shards = this.order.choose(2) === 0 ? 1 : 3;
    this.messageRetentionDays = this.order.choose(2) === 0 ? "" : "45";
  }

  async run(steps: readonly Step[]): Promise<void> {
    this.order.isFaulty = false;
    await this.#finish(async (release) => {
      const amount = initialMicros / 1e6;
      const setting = { amount, shards: this.#shards, contacts: contactCount };
      this.#actions.campaignId = await release.openOrganization(organizationId, setting);
      // The scheduler has run each minute until now.
      for (let shard = 0; shard < shardCount; shard += 1) await release.releaseScheduledJobs(shard);
    });
    this.order.isFaulty = true;
    await this.order.run(steps, (step) => this.#start(step));
    this.order.isFaulty = false;
    await this.#bringToAnEnd();
    this.order.arriveLate();
    await this.#bringToAnEnd();
    const day = dayOf(new Date().toISOString());
    // Held messages, budgets and test messages expire before the check.
    const ofKeys = this.#table.all().filter(isOfKey);
    // Messages that were written and never paid for expire.
    this.timeMs += 8 * dayMs;
    this.#table.expire(epochSeconds(new Date()));
    if (this.#checked.failure !== undefined) throw this.#checked.failure;
    const problems = await new BooksVerdict({
      table: this.#table,
      debits: this.#checked.debits,
      actions: this.#actions,
      carriers: this.#carriers,
      shards: this.#shards,
      releases: this.releases,
      finish: async (work) => this.#finish(work),
    }).problems(day, ofKeys);
    if (problems.length > 0) throw new Error(problems.join("; "));
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
    if (line.includes("record.unreadable")) this.#checked.failure = new Error(line);
  }

  #start(step: Step): void {
    const isExpected = (error: unknown): void => {
      // The caller gets an error, or a worker's job is delivered again. Both are fine while the books are in order.
      if (!(error instanceof Error)) this.#checked.failure = new Error(String(error));
    };
    this.#asFunction((release) => void this.#do(step, release).catch(isExpected));
  }

  async #do(step: Step, release: MoneyPath): Promise<void> {
    if (step.kind === "advance") this.timeMs += step.minutes * minuteMs;
    else if (step.kind === "deliver") await this.#deliverOne(release);
    else await this.#actions.do(step, release);
  }

  /** Processes a job of a queue. In half of the cases the job stays there for a second delivery. */
  async #deliverOne(release: MoneyPath): Promise<void> {
    const queue = workedQueues[this.order.choose(workedQueues.length)] ?? "refunds";
    const jobs = this.queues.get(queue) ?? [];
    const index = this.order.choose(jobs.length);
    const job = jobs[index];
    if (job === undefined) return;
    // A refund's job may end in the dead-letter queue after hours of failures. The refund must not depend on it.
    if (queue === "refunds" && this.order.choose(3) === 1) return void jobs.splice(index, 1);
    await this.#process(release, queue, job);
    if (this.order.choose(2) === 0) jobs.splice(jobs.indexOf(job), 1);
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
        if (failed > 0) this.#checked.failure = new Error("the wallet does not add up");
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
    const due = itemsOf(this.#table, "dueJob").filter(
      ({ dueAt }) => Date.parse(String(dueAt)) <= this.timeMs,
    );
    return new Set(due.map(({ pk }) => Number(String(pk).at(-1))));
  }

  /** Runs work to its end, with no other operation at the same time. */
  async #finish(work: (release: MoneyPath) => Promise<unknown>): Promise<void> {
    return this.order.finish(this.#asFunction(work));
  }

  /** A request to DynamoDB, with the client's retries and all faults. */
  async request(client: object, sent: object): Promise<unknown> {
    const command = withOwnClass(sent);
    const operation = this.operations.getStore();
    const debitEntryId = debitEntryIdOf(command);
    if (operation !== undefined && debitEntryId !== undefined) operation.debitEntryId = debitEntryId;
    // The mutation makes the client repeat a debit whose response was lost.
    const changes = this.#mutation === "throttle-only retry" ? { maxUnheardAttempts: 3 } : {};
    return withRetries(
      async () => this.#attempt(command),
      (failed) => operation?.release.repeats(client, { ...failed, changes }) === true,
    );
  }

  async #attempt(command: object): Promise<unknown> {
    await this.order.turn();
    const result = await attempt(this.order.pickFault(), {
      carryOut: () => this.#carryOut(command),
      die: never,
      later: (arrive) => this.order.later(arrive),
    });
    await this.order.turn();
    return result;
  }

  #carryOut(command: object): unknown {
    const operation = this.operations.getStore();
    if (this.#mutation === "void" && isVoid(command)) return {};
    mutateRequest(this.#mutation, command);
    const isOld = this.order.isFaulty && mayBeOld(command) && this.order.choose(4) === 1;
    this.#observe?.(`${this.timeMs} ${describe(command)}`);
    const result = this.#table.carryOut(command, isOld);
    this.#observe?.(JSON.stringify(result));
    if (this.#mutation === "ambiguity check" && isWalletRead(command) && operation?.debitEntryId)
      return { Item: { ...Object(result).Item, lastId: operation.debitEntryId } };
    this.#checked.note(command);
    return result;
  }

  /** A queue accepts a job, or the request is lost. */
  async enqueue(sent: object): Promise<unknown> {
    const command = withOwnClass(sent);
    await this.order.turn();
    const fault = this.order.pickFault();
    if (fault === "dies before" || fault === "dies after") return never();
    if (fault !== undefined) throw new Error("the queue is down");
    this.#observe?.(`${this.timeMs} ${describe(command)}`);
    for (const { url, body } of jobsOf(command)) {
      const name = queueNames.find((each) => url === `memory://${each}`);
      if (name !== undefined) this.queues.get(name)?.push(JSON.parse(body));
    }
    return {};
  }
}
