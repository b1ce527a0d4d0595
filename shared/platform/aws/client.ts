import { setTimeout as delay } from "node:timers/promises";

import { countAwsCall } from "../call-context.ts";
import { now } from "../clock.ts";
import { correctClock, signingTime } from "./clock-skew.ts";
import type { AwsCommand } from "./command.ts";
import { currentCredentials } from "./credentials.ts";
import { currentRegion, endpointOf } from "./endpoint.ts";
import { errorOf, type AwsResponse } from "./errors.ts";
import { sendOverHttp, TimeoutError, type TimeLimits } from "./http-transport.ts";
import { localPort } from "./local-port.ts";
import { mayRepeat, RetryBudget, retryDelayMs, retryKindOf, type RetryRules } from "./retry.ts";
import type { AwsService } from "./service.ts";
import { signedHeaders } from "./signature.ts";
import { currentTraceId } from "./trace.ts";

/*
 * The client of all services. The SDK's own client supports every feature, in thirty layers around each request. That costs ten
 * times as much CPU and function size as this client.
 */

export interface AwsClientOptions extends Partial<RetryRules> {
  readonly timeLimits?: Partial<TimeLimits>;
  /** Whether it uses a connection again. Default is true. */
  readonly keepsConnections?: boolean;
  /** Converts the error of a request that is not sent again. */
  readonly failure?: (error: unknown) => unknown;
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
   * Carries out a command.
   * @throws AwsError when AWS responds with an error
   * @throws TimeoutError or an error of Node, when no response arrives
   */
  async send<Output extends object>(command: AwsCommand<object, Output>): Promise<Output> {
    const { operation, input } = command;
    const startedMs = performance.now();
    try {
      const answer = await this.#answerTo({ operation, input, ...this.requestOf(command) });
      const output: Output = Object(this.outputOf(command, answer));
      return output;
    } catch (error) {
      throw this.#failure(error);
    } finally {
      countAwsCall(startedMs);
    }
  }

  /** Returns the request of a command. */
  protected requestOf(command: AwsCommand): CommandRequest {
    const { target, contentType } = this.#service;
    const headers: Record<string, string> = { "content-type": contentType };
    if (target !== undefined) headers["x-amz-target"] = `${target}.${command.operation}`;
    const body = this.bodyOf(command);
    return { method: "POST", path: command.path, query: "", headers, body };
  }

  /** Returns the input of a command as AWS reads it. */
  protected bodyOf({ input }: AwsCommand): string {
    return jsonOf(input);
  }

  /** Returns the output of a command. */
  protected outputOf(_command: AwsCommand, { body }: AwsResponse): object {
    return body === "" ? {} : this.parse(body);
  }

  /** Returns the content of a response. */
  protected parse(body: string): object {
    return JSON.parse(body);
  }

  /** Notes a failed attempt. */
  protected noteFailure(_request: CommandRequest, _error: unknown): void {
    // Only some services have something to note.
  }

  /** Returns the endpoint of a command. */
  protected endpointFor(_input: object, region: string): URL {
    return endpointOf(this.#service, region);
  }

  /** Sends a request until it succeeds, at most as often as the rules allow. */
  async #answerTo(request: Request): Promise<AwsResponse> {
    let hasCorrectedClock = false;
    for (let attempts = 1; ; attempts += 1) {
      try {
        const answer = await this.#attempt(request);
        if (answer.status < 300) {
          this.#budget.refund(attempts - 1);
          return answer;
        }
        const error = errorOf(answer, (body) => this.parse(body));
        if (!hasCorrectedClock && correctClock(error.name, answer)) {
          // AWS does not execute a request with a wrong time, so it can be repeated.
          hasCorrectedClock = true;
          continue;
        }
        throw error;
      } catch (error) {
        this.noteFailure(request, error);
        if (!mayRepeat(retryKindOf(error), attempts, this.retryRules) || !this.#budget.take()) throw error;
        await delay(retryDelayMs(attempts));
      }
    }
  }

  async #attempt({ operation, input, method, path, query, headers, body }: Request): Promise<AwsResponse> {
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

interface Request extends CommandRequest, Pick<AwsCommand, "input" | "operation"> {}

/** Returns an input in JSON, with base64 for binary values. */
export function jsonOf(input: unknown): string {
  return JSON.stringify(input, withBase64);
}

/** Writes binary values of an input as base64. A `Buffer` would write itself in another way before. */
function withBase64(this: object, name: string, value: unknown): unknown {
  const given: unknown = Reflect.get(this, name);
  return given instanceof Uint8Array ? Buffer.from(given).toString("base64") : value;
}

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
