import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import type { Permissions } from "./aws-requests.ts";
import type { FunctionPort } from "./data-services.ts";
import { localRegion, type FunctionDefinition } from "./template.ts";
import { functionThreadFile } from "./threads.ts";

/** What a function's thread is given when it starts. */
export interface FunctionThreadData {
  readonly bundleUrl: string;
  /** How many milliseconds the function is ahead of the time. */
  readonly clock: Float64Array;
  /** How it asks the local store; without it all requests go to the local AWS endpoint. */
  readonly store: FunctionPort | undefined;
}

export interface Invocation {
  readonly id: string;
  readonly event: unknown;
  /** What its requests to AWS carry as X-Amzn-Trace-Id, if anything. */
  readonly traceId: string | undefined;
  /** When the function's time-out is over, in milliseconds since the epoch. */
  readonly deadline: number;
}

export type InvocationResult =
  | { readonly id: string; readonly value: unknown }
  | { readonly id: string; readonly error: string };

/** What a function's thread sends: results, and the lines that the function writes. */
export type FunctionMessage = InvocationResult | { readonly lines: readonly string[] };

/** Where functions find AWS. */
export interface FunctionsAws {
  /** The address that they take for it. */
  readonly endpoint: string;
  /** Opens a port to the local store, where nothing has to stand in between. */
  readonly openPort?: (permissions: Permissions) => FunctionPort | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

interface Instance {
  readonly worker: Worker;
  readonly pending: Map<string, Pending>;
}

/**
 * One Lambda function as a worker thread with an environment of its own. The thread starts with the first
 * call, which is its cold start, and ends when the function overruns its time-out, crashes or is ended; the
 * next call starts another. Unlike in AWS one instance serves its calls side by side.
 */
export class FunctionHost {
  readonly #definition: FunctionDefinition;
  readonly #aws: FunctionsAws;
  readonly #log: (line: string) => void;
  readonly #clock: Float64Array;
  #instance: Instance | undefined;

  /** @param clock shared by all functions: how many milliseconds they are ahead of the time */
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
   * @param traceId what its requests to AWS carry as X-Amzn-Trace-Id
   * @throws Error when it threw, overran its time-out or ended
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
      const deadline = Date.now() + timeoutMs;
      instance.worker.postMessage({ id, event, traceId, deadline } satisfies Invocation);
    });
  }

  /** How many calls are under way. */
  get inFlightCalls(): number {
    return this.#instance?.pending.size ?? 0;
  }

  /** Ends the running instance at once, with whatever it is doing: a crash. */
  async kill(): Promise<void> {
    if (this.#instance !== undefined) {
      await this.#end(this.#instance, new Error(`${this.#definition.name} was ended`));
    }
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
        // The local AWS endpoint tells by the access key which function asks.
        AWS_ACCESS_KEY_ID: name,
        AWS_SECRET_ACCESS_KEY: "local",
        AWS_ENDPOINT_URL: this.#aws.endpoint,
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
        TZ: "UTC",
      },
      // Its lines come as messages; otherwise each thread would listen to this process's streams.
      stdout: true,
      stderr: true,
    });
    const instance: Instance = { worker, pending: new Map() };
    worker.on("message", (message: FunctionMessage) => {
      if ("lines" in message) for (const line of message.lines) this.#log(line);
      else deliver(instance, message);
    });
    worker.on("error", (error: Error) => void this.#end(instance, error));
    worker.on("exit", () => void this.#end(instance, new Error(`${name} ended`)));
    return instance;
  }

  async #end(instance: Instance, reason: Error): Promise<void> {
    if (this.#instance === instance) this.#instance = undefined;
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

function deliver(instance: Instance, result: InvocationResult): void {
  const pending = instance.pending.get(result.id);
  if (pending === undefined) return;
  instance.pending.delete(result.id);
  clearTimeout(pending.timer);
  if ("error" in result) pending.reject(new Error(result.error));
  else pending.resolve(result.value);
}
