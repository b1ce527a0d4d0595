import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import { localRegion } from "./connections.ts";
import type { FunctionPort } from "./data-services.ts";
import type { FunctionDefinition } from "./template.ts";
import { functionThreadFile } from "./threads.ts";

/** The clock of the functions' threads, also while a test has replaced that of this thread. */
const realNow = Date.now.bind(Date);

/** The data with which a function's thread starts. */
export interface FunctionThreadData {
  readonly bundleUrl: string;
  /** How many milliseconds the function's clock is ahead. */
  readonly clock: Float64Array;
  /** Its port to the local store; without one, all requests go to the local AWS endpoint. */
  readonly store: FunctionPort | undefined;
}

export interface Invocation {
  readonly id: string;
  /** In JSON, as Lambda passes it. */
  readonly event: string;
  /** The X-Amzn-Trace-Id of its requests to AWS, if any. */
  readonly traceId: string | undefined;
  /** When the function times out, in milliseconds since the epoch. */
  readonly deadline: number;
}

type InvocationResult =
  /** The value in JSON; undefined if there is none. */
  | { readonly id: string; readonly value: string | undefined }
  | { readonly id: string; readonly error: string };

/** A message from a function's thread: a result, or lines that the function has written. */
export type FunctionMessage = InvocationResult | { readonly lines: readonly string[] };

/** How functions reach AWS. */
export interface FunctionsAws {
  readonly endpoint: string;
  /** Opens a function's port to the local store; without one, all requests go to the endpoint. */
  readonly openPort?: (definition: FunctionDefinition) => FunctionPort | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

interface Instance {
  readonly worker: Worker;
  readonly pending: Map<string, Pending>;
  /** Ends the thread when no call comes. The end of each call starts it again. */
  readonly idleTimer: NodeJS.Timeout;
}

/** How long a thread waits for its next call. A new thread starts in about 0.1 seconds. */
export const maxIdleMs = 20_000;

/**
 * A Lambda function as a worker thread with an environment of its own. The first call starts the thread: its cold start.
 * The thread ends when the function times out, crashes, is killed or is not called for a while, because each one keeps
 * memory. The next call starts another one. Unlike in AWS, one instance runs several calls at the same time.
 */
export class FunctionHost {
  readonly #definition: FunctionDefinition;
  readonly #aws: FunctionsAws;
  readonly #log: (line: string) => void;
  readonly #clock: Float64Array;
  #instance: Instance | undefined;

  /** @param clock shared by all functions: how many milliseconds their clock is ahead */
  constructor(
    definition: FunctionDefinition,
    aws: FunctionsAws,
    clock: Float64Array,
    log: (line: string) => void,
  ) {
    this.#definition = definition;
    this.#aws = aws;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Calls the function.
   * @param traceId the X-Amzn-Trace-Id of its requests to AWS
   * @throws Error when it threw, timed out or ended
   */
  async invoke(event: unknown, traceId?: string): Promise<unknown> {
    const timeoutMs = this.#definition.timeoutSeconds * 1_000;
    const instance = (this.#instance ??= this.#start());
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => void this.#end(instance, new FunctionTimeout(this.#definition)),
        timeoutMs,
      );
      instance.pending.set(id, { resolve, reject, timer });
      const deadline = realNow() + timeoutMs;
      const invocation: Invocation = { id, event: JSON.stringify(event), traceId, deadline };
      instance.worker.postMessage(invocation);
    });
  }

  /** The number of calls in flight. */
  get inFlightCalls(): number {
    return this.#instance?.pending.size ?? 0;
  }

  /** Ends the running instance immediately, in the middle of its calls, like a crash. */
  async kill(): Promise<void> {
    if (this.#instance !== undefined) {
      await this.#end(this.#instance, new Error(`${this.#definition.name} was ended`));
    }
  }

  /** Ends the running instance, unless a call is in flight. */
  async endIfIdle(): Promise<void> {
    if (this.inFlightCalls === 0) await this.kill();
  }

  #start(): Instance {
    const { name, environment, bundleFile, memoryMegabytes } = this.#definition;
    const store = this.#aws.openPort?.(this.#definition);
    const workerData: FunctionThreadData = {
      bundleUrl: pathToFileURL(bundleFile).href,
      clock: this.#clock,
      store,
    };
    const worker = new Worker(functionThreadFile, {
      workerData,
      transferList: store === undefined ? [] : [store.port],
      env: {
        ...environment,
        AWS_REGION: localRegion,
        // The local AWS endpoint identifies the function by its access key.
        AWS_ACCESS_KEY_ID: name,
        AWS_SECRET_ACCESS_KEY: "local",
        AWS_ENDPOINT_URL: this.#aws.endpoint,
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
        TZ: "UTC",
      },
      // Its lines arrive as messages; otherwise each thread would add listeners to this process's streams.
      stdout: true,
      stderr: true,
    });
    const pending: Instance["pending"] = new Map();
    const idleTimer = setTimeout(() => {
      if (pending.size === 0) void this.#end(instance, new Error(`${name} was not called`));
    }, maxIdleMs).unref();
    const instance: Instance = { worker, pending, idleTimer };
    worker.on("message", (messages: readonly FunctionMessage[]) => {
      for (const message of messages) {
        if ("lines" in message) for (const line of message.lines) this.#log(line);
        else this.#deliver(instance, message);
      }
    });
    worker.on("error", (error: Error) => void this.#end(instance, error));
    worker.on("exit", () => void this.#end(instance, new Error(`${name} ended`)));
    return instance;
  }

  #deliver(instance: Instance, result: InvocationResult): void {
    const pending = instance.pending.get(result.id);
    if (pending === undefined) return;
    instance.pending.delete(result.id);
    clearTimeout(pending.timer);
    if ("error" in result) pending.reject(new Error(result.error));
    else pending.resolve(JSON.parse(result.value ?? "null"));
    instance.idleTimer.refresh();
  }

  async #end(instance: Instance, reason: Error): Promise<void> {
    if (this.#instance === instance) this.#instance = undefined;
    clearTimeout(instance.idleTimer);
    for (const pending of instance.pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(reason);
    }
    instance.pending.clear();
    await instance.worker.terminate();
  }
}

export class FunctionTimeout extends Error {
  constructor({ name, timeoutSeconds }: FunctionDefinition) {
    super(`${name} timed out after ${timeoutSeconds} seconds`);
  }
}
