import { AsyncLocalStorage } from "node:async_hooks";

import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";

import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { between, type Random } from "../chaos/random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/*
 * Functions as Lambda runs them. Each instance has its own clock and works on one batch at a time. An instance dies at any
 * moment, at the latest at the timeout of its call, and its earlier requests still arrive. Between two calls it is frozen:
 * unfinished work of a call continues during the next one.
 */

/** The clocks of two functions differ by at most twice this. */
export const maxClockErrorMs = 2 * secondMs;

/** The share of calls that die early, and how soon they die. */
const deathOdds = 0.03;
const diesWithinMs = 12 * secondMs;

/** The share of calls with a slow table, and the longest time of a request with all its attempts, slow or not. */
const slowOdds = 0.1;
const slowRequestMs = 8 * secondMs;
const requestMs = 20;

/** The share of jobs that are delivered again although they were done, and the longest delay until then. */
const repeatOdds = 0.03;
const repeatedWithinMs = 3 * minuteMs;

/** How many times a function's timeout its queue hides a job in progress. */
const hiddenTimeouts = 6;

/** One call of a function. */
interface Call {
  readonly instance: Instance;
  readonly endsAtMs: number;
  readonly isSlow: boolean;
}

interface Instance {
  readonly name: string;
  readonly handler: Handler;
  readonly clockErrorMs: number;
  /** Whether a call runs. Otherwise it is frozen, until its next call begins, or dead. */
  isRunning: boolean;
  onThaw: (() => void)[];
}

export type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** The running calls, and the one that runs the current code. */
export class Lambda {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Whether functions die, their table is slow, and their queues repeat jobs. */
  isFaulty = true;
  readonly #toldRemainingMs: number | undefined;
  readonly #calls = new AsyncLocalStorage<Call>();
  /** Ends running instances. */
  readonly #deaths = new WeakMap<object, () => void>();

  /** @param toldRemainingMs replaces the remaining time that functions see */
  constructor(time: VirtualTime, random: Random, toldRemainingMs?: number) {
    this.time = time;
    this.random = random;
    this.#toldRemainingMs = toldRemainingMs;
  }

  get current(): Call | undefined {
    return this.#calls.getStore();
  }

  /** The name of the current instance; empty outside of functions. */
  get instanceName(): string {
    return this.current?.instance.name ?? "";
  }

  /** The clock of the current function. */
  nowMs(): number {
    return this.time.nowMs + (this.current?.instance.clockErrorMs ?? 0);
  }

  /** The time for one way of a request. */
  wayMs(): number {
    return Math.ceil(this.random() * (this.current?.isSlow === true ? slowRequestMs : requestMs)) / 2;
  }

  /** The remaining time of the current function. */
  get remainingMs(): number {
    return (this.current?.endsAtMs ?? Infinity) - this.time.nowMs;
  }

  /** Whether a possible fault happens this time. */
  happens(odds: number): boolean {
    return this.isFaulty && this.random() < odds;
  }

  /** Waits as a function does: a frozen one continues when it is called again, a dead one never. */
  async wait(delayMs: number): Promise<void> {
    const instance = this.current?.instance;
    await this.time.sleep(delayMs);
    if (instance?.isRunning !== false) return;
    // A dead instance is never called again.
    await new Promise<void>((resolve) => {
      instance.onThaw.push(resolve);
    });
  }

  /** Ends the current instance immediately. */
  die(): void {
    this.#deaths.get(this.current?.instance ?? {})?.();
  }

  /** @returns the response of a function, or undefined when it has died */
  async call(instance: Instance, event: SQSEvent, timeoutMs: number): Promise<SQSBatchResponse | undefined> {
    const call: Call = {
      instance,
      endsAtMs: this.time.nowMs + timeoutMs,
      isSlow: this.happens(slowOdds),
    };
    const context = {
      getRemainingTimeInMillis: () => this.#toldRemainingMs ?? call.endsAtMs - this.time.nowMs,
    };
    const died = new Promise<undefined>((resolve) => {
      this.#deaths.set(instance, () => {
        instance.isRunning = false;
        resolve(undefined);
      });
    });
    const die = (): void => this.#deaths.get(instance)?.();
    const callOffs = [this.time.after(timeoutMs, die)];
    if (this.happens(deathOdds)) callOffs.push(this.time.after(this.random() * diesWithinMs, die));
    instance.isRunning = true;
    for (const thaw of instance.onThaw.splice(0)) thaw();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Workers read nothing else.
    const answered = this.#calls.run(call, async () => instance.handler(event, context as Context));
    const answer = await Promise.race([answered, died]);
    instance.isRunning = false;
    for (const callOff of callOffs) callOff();
    return answer;
  }
}

interface Job {
  readonly id: string;
  readonly body: string;
  readonly queuedAtMs: number;
  receives: number;
}

interface WorkerSettings {
  readonly name: string;
  readonly timeoutMs: number;
  /** The number of instances that work at the same time. */
  readonly instances: number;
  readonly batchSize: number;
  /** Makes the handler of one more instance. */
  readonly newHandler: (index: number) => Handler;
}

/** A standard queue and its function. Jobs arrive in any order, late, and more than once. */
export class QueueWorker {
  worked = 0;
  readonly #lambda: Lambda;
  readonly #settings: WorkerSettings;
  readonly #ready: Job[] = [];
  readonly #idle: Instance[] = [];
  #made = 0;
  #jobs = 0;
  /** Jobs that are ready, delayed, hidden or in work. */
  #open = 0;

  constructor(lambda: Lambda, settings: WorkerSettings) {
    this.#lambda = lambda;
    this.#settings = settings;
    for (let index = 0; index < settings.instances; index += 1) this.#start(index);
  }

  /** Whether no job is left. */
  get isEmpty(): boolean {
    return this.#open === 0;
  }

  put(body: string, delayMs = 0): void {
    this.#jobs += 1;
    this.#open += 1;
    const id = `${this.#settings.name}-${this.#jobs}`;
    this.#comeAfter(delayMs, { id, body, queuedAtMs: this.#lambda.time.nowMs, receives: 0 });
  }

  #comeAfter(delayMs: number, job: Job): void {
    this.#lambda.time.after(delayMs, () => {
      this.#ready.push(job);
      this.#poll();
    });
  }

  #start(index: number): void {
    const { name, newHandler } = this.#settings;
    this.#made += 1;
    const clockErrorMs = Math.round((this.#lambda.random() * 2 - 1) * maxClockErrorMs);
    this.#idle.push({
      name: `${name}-${this.#made}`,
      handler: newHandler(index),
      clockErrorMs,
      isRunning: false,
      onThaw: [],
    });
  }

  #poll(): void {
    while (this.#ready.length > 0) {
      const instance = this.#idle.shift();
      if (instance === undefined) return;
      const size = between(this.#lambda.random, 1, this.#settings.batchSize);
      const batch = Array.from({ length: Math.min(size, this.#ready.length) }, () => this.#takeAny());
      void this.#work(instance, batch);
    }
  }

  #takeAny(): Job {
    const index = Math.floor(this.#lambda.random() * this.#ready.length);
    const last = this.#ready.pop();
    const taken = this.#ready[index] ?? last;
    if (taken === undefined || last === undefined) throw new Error("no job is ready");
    if (index < this.#ready.length) this.#ready[index] = last;
    return taken;
  }

  async #work(instance: Instance, batch: readonly Job[]): Promise<void> {
    const { time, random } = this.#lambda;
    const { timeoutMs } = this.#settings;
    const visibleAtMs = time.nowMs + hiddenTimeouts * timeoutMs;
    this.worked += batch.length;
    for (const job of batch) job.receives += 1;
    const answer = await this.#lambda.call(instance, eventOf(batch), timeoutMs);
    const failed = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const job of batch) {
      if (answer === undefined || failed.has(job.id)) this.#comeAfter(visibleAtMs - time.nowMs, job);
      else if (this.#lambda.happens(repeatOdds)) this.#comeAfter(random() * repeatedWithinMs, job);
      else this.#open -= 1;
    }
    // A dead instance is replaced by one without any state.
    if (answer === undefined) this.#start(this.#made);
    else this.#idle.push(instance);
    this.#poll();
  }
}

function eventOf(batch: readonly Job[]): SQSEvent {
  const Records = batch.map(({ id, body, receives, queuedAtMs }) => ({
    messageId: id,
    body,
    attributes: { ApproximateReceiveCount: String(receives), SentTimestamp: String(queuedAtMs) },
  }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Workers read nothing else.
  return { Records } as unknown as SQSEvent;
}
