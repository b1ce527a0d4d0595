import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";

import { keepingAgent } from "./connections.ts";
import type { AwsResponse } from "./errors.ts";

/** How long a request may take. */
export interface TimeLimits {
  /** The time until it has a connection. */
  readonly connectionMs: number;
  /** The time until its response has arrived. */
  readonly requestMs: number;
}

export interface HttpOptions extends TimeLimits {
  /** Whether it may use an existing connection. */
  readonly keepsConnections: boolean;
}

export interface HttpRequest {
  readonly endpoint: URL;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

/** A request exceeded a time limit. */
export class TimeoutError extends Error {
  // As the SDK names it.
  override readonly name = "TimeoutError";
  /** Whether it had no connection yet, so that it cannot have arrived. */
  readonly wasNeverSent: boolean;

  constructor(message: string, wasNeverSent: boolean) {
    super(message);
    this.wasNeverSent = wasNeverSent;
  }
}

interface Http {
  readonly request: (
    options: RequestOptions,
    onResponse: (response: IncomingMessage) => void,
  ) => ClientRequest;
  readonly agent: Agent;
}

type Protocol = "http:" | "https:";

const loaded = new Map<Protocol, Promise<Http>>();

/**
 * Loads the module of a protocol once. In AWS nothing needs plain HTTP, and on a laptop nothing needs TLS. Each would add a
 * tenth to the load time of a function.
 */
async function loadHttp(protocol: Protocol): Promise<Http> {
  const known = loaded.get(protocol);
  if (known !== undefined) return known;
  const loading = protocol === "http:" ? import("node:http") : import("node:https");
  const http = loading.then((module): Http => {
    const { request } = module;
    return { request, agent: keepingAgent(module.Agent) };
  });
  loaded.set(protocol, http);
  return http;
}

/**
 * Sends a request, and waits for the complete response.
 * @throws TimeoutError
 * @throws Error with the `code` that Node gives it, when the connection fails
 */
export async function sendOverHttp(
  { endpoint, method, path, headers, body }: HttpRequest,
  { connectionMs, requestMs, keepsConnections }: HttpOptions,
): Promise<AwsResponse> {
  const http = await loadHttp(endpoint.protocol === "http:" ? "http:" : "https:");
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method,
      // Only a URL has brackets around an IPv6 address.
      host: endpoint.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: endpoint.port === "" ? null : endpoint.port,
      path,
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
      agent: keepsConnections ? http.agent : false,
    };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        clearTimeout(timer);
        const bytes = Buffer.concat(chunks);
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, body: bytes.toString(), bytes });
      });
    });
    const timer = setTimeout(() => {
      fail(new TimeoutError(`the response has exceeded the requestTimeout of ${requestMs} ms`, false));
    }, requestMs);
    function fail(error: Error): void {
      clearTimeout(timer);
      reject(error);
      request.destroy();
    }
    request.on("error", fail);
    request.on("socket", (socket) => {
      if (!socket.connecting) return;
      const connecting = setTimeout(() => {
        fail(new TimeoutError(`no connection was made within ${connectionMs} ms`, true));
      }, connectionMs);
      socket.once("connect", () => clearTimeout(connecting));
      request.once("close", () => clearTimeout(connecting));
    });
    request.end(body);
  });
}
