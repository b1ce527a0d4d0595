import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";

import { now, secondMs } from "../platform/clock.ts";

/** What a carrier is asked. */
export interface CarrierRequest {
  readonly url: URL;
  readonly method: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** What it answered. None of it goes into a log, for it may hold anything, our secrets too. */
export interface CarrierResponse {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly text: string;
}

/** How long a call may take. Together with the loading of a secret it is less than a sender waits for a carrier. */
export interface CallOptions {
  readonly connectTimeoutMs?: number;
  /** In all, from the look-up of the name to the last of the answer. */
  readonly timeoutMs?: number;
  /** Is given the answer, for an operator who tries a carrier. */
  readonly onAnswer?: (response: CarrierResponse) => void;
}

const usualConnectTimeoutMs = 2 * secondMs;
const usualTimeoutMs = 8 * secondMs;

const maxHeaderBytes = 16 * 1024;
/** An answer that goes on behind this is not an answer. */
const maxBodyBytes = 64 * 1024;

/** The longest that a carrier's Retry-After is gone by. */
const maxRetryAfterSeconds = 900;

/** Nothing of the request has left this machine. */
export class NotReachedError extends Error {
  /** What Node calls the cause, such as ECONNREFUSED, or a name of ours. */
  readonly reason: string;

  constructor(reason: string) {
    super("nothing was sent to the carrier");
    this.name = "NotReachedError";
    this.reason = reason;
  }
}

/** No one knows what became of the request. Its name says what happened, and its message nothing that came from outside. */
class LostAnswerError extends Error {
  constructor(name: "AnswerBroken" | "AnswerTooLarge" | "NoAnswerInTime") {
    super("the carrier gave no whole answer");
    this.name = name;
  }
}

/** An answer that says nothing of which it follows what became of the message. */
export class UnclearAnswerError extends Error {
  constructor(status: number) {
    super("the carrier's answer does not say what became of the message");
    this.name = `UnclearAnswer${status}`;
  }
}

/**
 * Asks a carrier once. Redirects are not followed, and the connection is a new one, which cannot have died since its last
 * use. Its address is the operator's own and may be any.
 * @throws NotReachedError when nothing was sent; Error when it is not known what became of the request
 */
export async function callCarrier(
  { url, method, headers = {}, body }: CarrierRequest,
  { connectTimeoutMs = usualConnectTimeoutMs, timeoutMs = usualTimeoutMs, onAnswer }: CallOptions = {},
): Promise<CarrierResponse> {
  const isSecure = url.protocol === "https:";
  const withLength: OutgoingHttpHeaders = {
    "User-Agent": "sms-gateway/1",
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
      const outgoing = (isSecure ? httpsRequest : httpRequest)(url, options, resolve);
      tooSlow = setTimeout(() => outgoing.destroy(new NotReachedError("ConnectTimeout")), connectTimeoutMs);
      outgoing.on("socket", (socket) => {
        // The request is written when the connection stands, with TLS when the other side has shown who it is.
        socket.once(isSecure ? "secureConnect" : "connect", () => {
          isConnected = true;
          clearTimeout(tooSlow);
        });
      });
      outgoing.on("error", reject);
      // A carrier that switches protocols ends the call without an answer and without an error.
      outgoing.on("close", () => reject(new LostAnswerError("AnswerBroken")));
      outgoing.end(body);
    });
    const answer = {
      status: response.statusCode ?? 0,
      retryAfterSeconds: secondsOf(response.headers["retry-after"]),
      text: await boundedText(response),
    };
    onAnswer?.(answer);
    return answer;
  } catch (error) {
    if (error instanceof LostAnswerError) throw error;
    if (!isConnected) throw new NotReachedError(isOver.aborted ? "ConnectTimeout" : reasonOf(error));
    throw new LostAnswerError(isOver.aborted ? "NoAnswerInTime" : "AnswerBroken");
  } finally {
    clearTimeout(tooSlow);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NotReachedError) return error.reason;
  return error instanceof Error && "code" in error ? String(error.code) : "NoConnection";
}

async function boundedText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > maxBodyBytes) throw new LostAnswerError("AnswerTooLarge");
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Retry-After, a number of seconds or a date (RFC 9110), within bounds. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - now().getTime()) / secondMs);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), maxRetryAfterSeconds);
}

/**
 * The JSON of an answer at a path such as `messages.0.status`.
 * @returns undefined also for an answer that is no JSON
 */
export function valueAt(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = new Map(Object.entries(value)).get(name);
  }
  return value;
}
