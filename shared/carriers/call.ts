import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

import { now, secondMs } from "../platform/clock.ts";
import { requestOf } from "../platform/http/client-of.ts";
import type { SubmitResult } from "./carrier.ts";
import { textOfResponse } from "./response-text.ts";

/** A request to a carrier. */
export interface CarrierRequest {
  readonly url: URL;
  readonly method: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A carrier's response. None of it goes into a log, because it may have any content, even the gateway's secrets. */
export interface CarrierResponse {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly text: string;
}

/**
 * The time limits of a call. Together with the reading of a secret they are shorter than a sender waits for a carrier.
 */
export interface CallOptions {
  readonly connectTimeoutMs?: number;
  /** The limit of the whole call, from the look-up of the name to the last byte of the response. */
  readonly timeoutMs?: number;
  /** Receives the response, for an operator who tests a carrier. */
  readonly onAnswer?: (response: CarrierResponse) => void;
}

const usualConnectTimeoutMs = 2 * secondMs;
const usualTimeoutMs = 8 * secondMs;

const maxHeaderBytes = 16 * 1024;
/** A longer response is not accepted, nor one that is longer without its compression. */
const maxBodyBytes = 64 * 1024;

/**
 * The statuses with which a carrier, or a proxy before it, has certainly not accepted a message (RFC 9110, 15.5). The reason is
 * the credentials, the address or the form of the request.
 */
const turnedAwayStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 411, 413, 414, 415, 431]);

/** The longest Retry-After of a carrier that is followed. */
const maxRetryAfterSeconds = 900;

/** An error before any byte of the request has left this machine. */
export class UnreachableError extends Error {
  /** Node's code of the cause, such as ECONNREFUSED, or a name from the gateway. */
  readonly reason: string;

  constructor(reason: string) {
    super("nothing was sent to the carrier");
    this.name = "UnreachableError";
    this.reason = reason;
  }
}

/**
 * An error after which the outcome of the request is unknown. Its name states the cause, and its message has no text
 * from outside.
 */
class LostAnswerError extends Error {
  constructor(name: "AnswerBroken" | "AnswerTooLarge" | "NoAnswerInTime") {
    super("the carrier gave no complete response");
    this.name = name;
  }
}

/** A response that does not state the outcome of the message. */
export class NoOutcomeError extends Error {
  constructor(status: number) {
    super("the carrier's response does not state the outcome of the message");
    this.name = `UnclearAnswer${status}`;
  }
}

/**
 * Returns what a status means if nothing else in the response has a meaning.
 * @throws NoOutcomeError for a status that does not state whether the carrier accepted the message
 */
export function outcomeOfStatus(
  { status, retryAfterSeconds }: CarrierResponse,
  providerCode: string,
): SubmitResult {
  if (status === 429) return { outcome: "throttled", retryAfterSeconds, providerCode };
  if (!turnedAwayStatuses.has(status)) throw new NoOutcomeError(status);
  return { outcome: "unreachable", reason: `TurnedAway${status}`, providerCode };
}

/**
 * Calls a carrier once. It does not follow redirects, and it opens a new connection, which cannot have died since its
 * last use. The operator chose the address, so any address is allowed.
 * @throws UnreachableError when nothing was sent; Error when the outcome of the request is unknown
 */
export async function callCarrier(
  { url, method, headers = {}, body }: CarrierRequest,
  { connectTimeoutMs = usualConnectTimeoutMs, timeoutMs = usualTimeoutMs, onAnswer }: CallOptions = {},
): Promise<CarrierResponse> {
  const isSecure = url.protocol === "https:";
  const withLength: OutgoingHttpHeaders = {
    "User-Agent": "sms-gateway/1",
    // Without it a server may compress its response (RFC 9110, 12.5.3).
    "Accept-Encoding": "identity",
    ...headers,
    ...(body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) }),
  };
  const isOver = AbortSignal.timeout(timeoutMs);
  let isConnected = false;
  let tooSlow: NodeJS.Timeout | undefined;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method,
        headers: withLength,
        signal: isOver,
        agent: false,
        maxHeaderSize: maxHeaderBytes,
      };
      const outgoing = requestOf(url.protocol)(url, options, resolve);
      outgoing.on("socket", (socket) => {
        tooSlow = setTimeout(
          () => outgoing.destroy(new UnreachableError("ConnectTimeout")),
          connectTimeoutMs,
        );
        // Node writes the request once the connection is open; with TLS, once the other side has proven its identity.
        socket.once(isSecure ? "secureConnect" : "connect", () => {
          isConnected = true;
          clearTimeout(tooSlow);
        });
      });
      outgoing.on("error", reject);
      // A carrier that switches protocols ends the call without a response and without an error.
      outgoing.on("close", () => reject(new LostAnswerError("AnswerBroken")));
      outgoing.end(body);
    });
    const answer = {
      status: response.statusCode ?? 0,
      retryAfterSeconds: secondsOf(response.headers["retry-after"]),
      text: textOfResponse(await boundedBytes(response), response.headers, maxBodyBytes),
    };
    onAnswer?.(answer);
    return answer;
  } catch (error) {
    if (error instanceof LostAnswerError) throw error;
    if (!isConnected) throw new UnreachableError(isOver.aborted ? "ConnectTimeout" : reasonOf(error));
    throw new LostAnswerError(isOver.aborted ? "NoAnswerInTime" : "AnswerBroken");
  } finally {
    clearTimeout(tooSlow);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreachableError) return error.reason;
  return error instanceof Error && "code" in error ? String(error.code) : "NoConnection";
}

async function boundedBytes(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > maxBodyBytes) throw new LostAnswerError("AnswerTooLarge");
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Retry-After, a number of seconds or a date (RFC 9110), within bounds. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - now().getTime()) / secondMs);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), maxRetryAfterSeconds);
}
