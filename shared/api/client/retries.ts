import { callOnce, type AnyOptions, type CallSettings, type Endpoint } from "./call.ts";
import { ConnectionError, RequestError } from "./errors.ts";
import { headersOf, headerText } from "./request-values.ts";

interface Limits {
  /** The most repeats of a request, 2 by default. */
  readonly maxRetries?: number;
  /** The time limit of each attempt, 30,000 by default. */
  readonly timeoutMs?: number;
}

/** The options of any call of a client that repeats requests. */
export interface CallOptions extends Limits, Pick<AnyOptions, "headers" | "onResponse" | "signal"> {}

/** The settings of a client that repeats requests. */
export interface ClientSettings extends CallSettings, Limits {
  /** Returns a number from 0 to 1, `Math.random` by default. */
  readonly random?: () => number;
  /** Waits before a repeat. Used instead of a timer. */
  readonly delay?: (delayMs: number, signal?: AbortSignal) => Promise<void>;
}

const defaultMaxRetries = 2;
const defaultTimeoutMs = 30_000;
const firstDelayMs = 500;
const maxDelayMs = 8_000;
/** A call does not wait longer than this for `Retry-After`. It then throws the error, which has the time. */
const maxRetryAfterMs = 60_000;

/** Methods that have the same effect when they are repeated. */
const repeatableMethods: ReadonlySet<string> = new Set(["GET", "PUT", "DELETE"]);
const repeatableStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);
/** Codes with the status 429 after which a repeat would be another check or message. */
const lastingCodes: ReadonlySet<string> = new Set(["TOO_MANY_CHECKS", "TOO_MANY_SENDS"]);

/**
 * Calls an operation, and repeats it after failures that pass. An operation that accepts an Idempotency-Key gets one, so
 * that a repeat never acts twice. Other changes are repeated only after a 429, which has no effect.
 * @throws RequestError, ConnectionError, TypeError for a request that cannot be sent, or the reason of the caller's signal
 */
export async function callReliably(
  settings: ClientSettings,
  endpoint: Endpoint,
  given: AnyOptions & Limits,
): Promise<unknown> {
  const { random = Math.random, delay = wait } = settings;
  const maxRetries = given.maxRetries ?? settings.maxRetries ?? defaultMaxRetries;
  for (const [, name = ""] of endpoint.path.matchAll(/\{(\w+)\}/g)) {
    if ((given.params?.[name] ?? "") === "") throw new TypeError(`the parameter ${name} is missing or empty`);
  }
  const key = given.idempotencyKey ?? (endpoint.idempotent === true ? crypto.randomUUID() : undefined);
  const options = {
    ...given,
    headers: headersOf(given.headers),
    ...(key === undefined ? {} : { idempotencyKey: headerText("idempotencyKey", key) }),
  };
  const isRepeatable = endpoint.idempotent === true || repeatableMethods.has(endpoint.method);
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt(settings, endpoint, options);
    } catch (error) {
      const delayMs = delayBefore(error, retries, isRepeatable, random);
      if (retries >= maxRetries || delayMs === undefined) throw error;
      await delay(delayMs, options.signal);
    }
  }
}

async function attempt(
  settings: ClientSettings,
  endpoint: Endpoint,
  options: AnyOptions & Limits,
): Promise<unknown> {
  const { signal } = options;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? settings.timeoutMs ?? defaultTimeoutMs);
  try {
    return await callOnce(settings, endpoint, {
      ...options,
      body: withoutPlus(options.body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof RequestError ? error : new ConnectionError(error);
  }
}

/** Takes off the plus signs of a message's numbers, which the API does not accept. */
function withoutPlus(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const numbers = Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    if (name === "messages" && Array.isArray(value)) return [[name, value.map(withoutPlus)]];
    const isNumber = (name === "to" || name === "from") && typeof value === "string";
    return isNumber ? [[name, value.replace(/^\+/, "")]] : [];
  });
  return numbers.length === 0 ? body : { ...body, ...Object.fromEntries(numbers) };
}

/** How long to wait before the next attempt, in milliseconds; undefined if the request must not be repeated. */
function delayBefore(
  error: unknown,
  retries: number,
  isRepeatable: boolean,
  random: () => number,
): number | undefined {
  // Half of each delay is random, so that clients that failed together do not return together.
  const backoffMs = Math.min(firstDelayMs * 2 ** retries, maxDelayMs) * (0.5 + random() / 2);
  if (error instanceof ConnectionError) return isRepeatable ? backoffMs : undefined;
  if (!(error instanceof RequestError)) return undefined;
  const { status, code, retryAfterSeconds = 0 } = error;
  if (lastingCodes.has(code ?? "")) return undefined;
  // The first attempt is still running, for example after a time-out.
  const isInProgress = code === "IDEMPOTENCY_IN_PROGRESS";
  if (status !== 429 && !(isRepeatable && (repeatableStatuses.has(status) || isInProgress))) return undefined;
  const retryAfterMs = retryAfterSeconds * 1_000;
  return retryAfterMs > maxRetryAfterMs ? undefined : Math.max(backoffMs, retryAfterMs || 0);
}

async function wait(delayMs: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
  signal?.throwIfAborted();
}
