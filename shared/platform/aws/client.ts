import { setTimeout as delay } from "node:timers/promises";

import { now } from "../clock.ts";
import { correctClock, signingTime } from "./clock-skew.ts";
import { commandParts, type CommandParts } from "./command.ts";
import { currentCredentials } from "./credentials.ts";
import { currentRegion, endpointOf } from "./endpoint.ts";
import { errorOf, metadataOf, type Answer } from "./errors.ts";
import { sendOverHttp, TimeoutError, type TimeLimits } from "./http-transport.ts";
import { localPort } from "./local-port.ts";
import { mayRepeat, RetryBudget, retryDelayMs, retryKindOf, type RetryRules } from "./retry.ts";
import type { AwsService } from "./service.ts";
import { signedHeaders } from "./signature.ts";
import { currentTraceId } from "./trace.ts";
import { fromWire, wireText } from "./wire.ts";

/*
 * The client that sends the SDK's commands. The SDK's own client supports every feature, in thirty layers around each
 * request. That costs ten times as much CPU and function size as this client.
 */

export interface AwsClientOptions extends Partial<RetryRules> {
  readonly timeLimits?: Partial<TimeLimits>;
  /** Whether it uses a connection again. Default is true. */
  readonly keepsConnections?: boolean;
  /** Converts the error of a request that is not sent again. */
  readonly failure?: (error: unknown) => unknown;
}

/** A command of the SDK, with the part of its type that has the output. */
export interface AwsCommand<Output> {
  readonly input: object;
  resolveMiddleware(
    stack: never,
    configuration: never,
    options: never,
  ): (input: never) => Promise<{ output: Output }>;
}

const defaultLimits: TimeLimits = { connectionMs: 1_000, requestMs: 2_000 };

const userAgent = [
  `sms-gateway lang/js md/nodejs#${process.versions.node}`,
  ...(process.env["AWS_EXECUTION_ENV"] ? [`exec-env/${process.env["AWS_EXECUTION_ENV"]}`] : []),
].join(" ");

export class AwsClient {
  readonly retryRules: RetryRules;
  readonly #service: AwsService;
  readonly #limits: TimeLimits;
  readonly #keepsConnections: boolean;
  readonly #failure: (error: unknown) => unknown;
  readonly #budget = new RetryBudget();

  constructor(service: AwsService, options: AwsClientOptions = {}) {
    const {
      maxAttempts = 3,
      maxUnheardAttempts = maxAttempts,
      timeLimits,
      keepsConnections = true,
    } = options;
    this.#service = service;
    this.retryRules = { maxAttempts, maxUnheardAttempts };
    this.#limits = { ...defaultLimits, ...timeLimits };
    this.#keepsConnections = keepsConnections;
    this.#failure = options.failure ?? ((error) => error);
  }

  /**
   * Sends a command of the SDK.
   * @throws Error of the SDK's class, when AWS responds with an error
   * @throws TimeoutError or an error of Node, when no response arrives
   */
  async send<Output>(command: AwsCommand<Output>): Promise<Output> {
    const parts = commandParts(command);
    const { operation, input, finish } = parts;
    try {
      const answer = await this.#answerTo({ operation, input, ...this.requestOf(parts) });
      const output = this.outputOf(parts, answer);
      this.check(input, output);
      return Object.assign(Object(finish(output)), { $metadata: metadataOf(answer) });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Returns the request of a command. */
  protected requestOf({ operation, method, path, input, inputSchema }: CommandParts): CommandRequest {
    const { target, contentType } = this.#service;
    if (method !== "POST" || path.includes("{")) throw new Error(`${operation} is not a plain POST`);
    const headers: Record<string, string> = { "content-type": contentType };
    if (target !== undefined) headers["x-amz-target"] = `${target}.${operation}`;
    return { method, path, query: "", headers, body: wireText(inputSchema, input) };
  }

  /** Returns the output of a command. */
  protected outputOf({ outputSchema }: CommandParts, { body }: Answer): object {
    return fromWire(outputSchema, body === "" ? {} : JSON.parse(body));
  }

  /** Returns the endpoint of a command. */
  protected endpointFor(_input: object, region: string): URL {
    return endpointOf(this.#service, region);
  }

  /** Checks a response. @throws Error when it cannot be right */
  protected check(_input: object, _output: object): void {}

  /** Sends a request until it succeeds, at most as often as the rules allow. */
  async #answerTo(request: Request): Promise<Answer> {
    let hasCorrectedClock = false;
    for (let attempts = 1; ; attempts += 1) {
      try {
        const answer = await this.#attempt(request);
        if (answer.status < 300) {
          this.#budget.refund(attempts - 1);
          return answer;
        }
        const error = errorOf(this.#service, answer);
        if (!hasCorrectedClock && correctClock(error.name, answer)) {
          // AWS does not execute a request with a wrong time, so it can be repeated.
          hasCorrectedClock = true;
          continue;
        }
        throw error;
      } catch (error) {
        if (!mayRepeat(retryKindOf(error), attempts, this.retryRules) || !this.#budget.take()) throw error;
        await delay(retryDelayMs(attempts));
      }
    }
  }

  async #attempt({ operation, input, method, path, query, headers, body }: Request): Promise<Answer> {
    const traceId = currentTraceId();
    const { signingName } = this.#service;
    if (localPort?.services.has(signingName) === true && typeof body === "string") {
      const asked = localPort.send(signingName, operation, body, traceId);
      const { status, body: answered } = await within(this.#limits.requestMs, asked);
      return { status, headers: {}, body: answered };
    }
    const region = currentRegion();
    const endpoint = this.endpointFor(input, region);
    const fullPath = endpoint.pathname === "/" ? path : endpoint.pathname.replace(/\/$/, "") + path;
    const credentials = await currentCredentials();
    const scope = { credentials, region, service: signingName };
    const request = { method, path: fullPath, query, headers: { ...headers, host: endpoint.host }, body };
    const signed = signedHeaders(request, scope, signingTime(now()));
    signed["user-agent"] = userAgent;
    if (traceId !== undefined) signed["x-amzn-trace-id"] = traceId;
    return sendOverHttp(
      { endpoint, method, path: query === "" ? fullPath : `${fullPath}?${query}`, headers: signed, body },
      { ...this.#limits, keepsConnections: this.#keepsConnections },
    );
  }
}

/** The request of a command, without its endpoint and its signature. */
export interface CommandRequest {
  readonly method: string;
  /** Encoded. */
  readonly path: string;
  /** Encoded and in order; empty for none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

interface Request extends CommandRequest, Pick<CommandParts, "input" | "operation"> {}

/** Awaits a promise. @throws TimeoutError when it takes too long */
async function within<Value>(limitMs: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TimeoutError(`the response has exceeded the requestTimeout of ${limitMs} ms`, false));
    }, limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
