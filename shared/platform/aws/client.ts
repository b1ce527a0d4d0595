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
 * What carries out the SDK's commands. The SDK's own client does all that it may ever be asked for, in thirty layers that
 * each request goes through: that costs ten times what this does, in CPU and in the size of a function.
 */

export interface AwsClientOptions extends Partial<RetryRules> {
  readonly timeLimits?: Partial<TimeLimits>;
  /** Whether it uses a connection again. Default is true. */
  readonly keepsConnections?: boolean;
  /** Gives an error another form, once the request is not sent again. */
  readonly failure?: (error: unknown) => unknown;
}

/** A command of the SDK, as far as its output can be known by it. */
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
   * Carries out a command of the SDK.
   * @throws Error in the SDK's class, when AWS answers with one
   * @throws TimeoutError or an error of Node, when no answer comes
   */
  async send<Output>(command: AwsCommand<Output>): Promise<Output> {
    const { inputSchema, outputSchema, finish, ...parts } = commandParts(command);
    const { input } = parts;
    try {
      const answer = await this.#answerTo({ ...parts, body: wireText(inputSchema, input) });
      const output = fromWire(outputSchema, answer.body === "" ? {} : JSON.parse(answer.body));
      this.check(input, output);
      return Object.assign(Object(finish(output)), { $metadata: metadataOf(answer) });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Where a command is sent to. */
  protected endpointFor(_input: object, region: string): URL {
    return endpointOf(this.#service, region);
  }

  /** Looks at an answer before it is given on. @throws Error when it cannot be right */
  protected check(_input: object, _output: object): void {}

  /** Sends a request as often as the rules allow, until it gets a good answer. */
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
          // What was signed for a wrong time was not carried out.
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

  async #attempt({ operation, path, input, body }: Request): Promise<Answer> {
    const traceId = currentTraceId();
    const { signingName, target, contentType } = this.#service;
    if (localPort?.services.has(signingName) === true) {
      const asked = localPort.send(signingName, operation, body, traceId);
      const { status, body: answered } = await within(this.#limits.requestMs, asked);
      return { status, headers: {}, body: answered };
    }
    const region = currentRegion();
    const endpoint = this.endpointFor(input, region);
    const headers: Record<string, string> = { "content-type": contentType, host: endpoint.host };
    if (target !== undefined) headers["x-amz-target"] = `${target}.${operation}`;
    const fullPath = endpoint.pathname === "/" ? path : endpoint.pathname.replace(/\/$/, "") + path;
    const credentials = await currentCredentials();
    const scope = { credentials, region, service: signingName };
    const request = { method: "POST", path: fullPath, headers, body };
    const signed = signedHeaders(request, scope, signingTime(now()));
    signed["user-agent"] = userAgent;
    if (traceId !== undefined) signed["x-amzn-trace-id"] = traceId;
    return sendOverHttp(
      { endpoint, path: fullPath, headers: signed, body },
      { ...this.#limits, keepsConnections: this.#keepsConnections },
    );
  }
}

interface Request extends Pick<CommandParts, "input" | "operation" | "path"> {
  readonly body: string;
}

/** What a promise gives. @throws TimeoutError when it takes too long */
async function within<Value>(limitMs: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TimeoutError(`the answer has exceeded the requestTimeout of ${limitMs} ms`, false));
    }, limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
