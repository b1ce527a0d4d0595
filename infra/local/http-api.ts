import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod/mini";

import { responseHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import { FunctionTimeout } from "./function-host.ts";
import { eventOf } from "./http-event.ts";
import { isLocalRequest, listenOnIpv6Loopback, listenOnLoopback } from "./loopback.ts";
import type { LocalPage } from "./pages.ts";
import type { CorsConfiguration } from "./template.ts";

/** The largest body of a request. An HTTP API rejects larger ones itself, with 413. */
const maxBodyBytes = 10 * 1024 * 1024;

/**
 * The most requests that run at the same time; others wait. The calls of a function share one thread here. With more of
 * them, a response of DynamoDB can wait for that thread until its client reports a time-out.
 */
const maxConcurrentRequests = 16;

/**
 * The route whose function calls this API again. It takes no place, because its calls could otherwise take all places and
 * wait for others.
 */
const callingRouteKey = "POST /mcp";

const rejectionOfStranger =
  "The local gateway serves requests of this machine to localhost only. " +
  "For another name of this machine: ALLOWED_HOSTS=host.docker.internal npm start";

/** How long a stop waits for requests in flight. */
const drainTimeoutMs = 5_000;

const FunctionResponse = z.object({
  statusCode: z.int().check(z.gte(100), z.lte(599)),
  headers: z._default(z.record(z.string(), z.coerce.string()), {}),
  cookies: z.optional(z.array(z.string())),
  body: z._default(z.string(), ""),
  isBase64Encoded: z._default(z.boolean(), false),
});

export interface HttpRoute {
  /** `POST /v1/sms/send`, with `{name}` for a path parameter, or `$default`. */
  readonly routeKey: string;
  readonly invoke: (event: unknown) => Promise<unknown>;
}

interface CompiledRoute extends HttpRoute {
  readonly method: string;
  readonly pattern: RegExp;
}

/** An HTTP API of API Gateway: turns requests into events of payload format 2.0, and results into responses. */
export class HttpApi {
  /** One for each loopback address. */
  readonly #servers: readonly [Server, Server];
  readonly #log: (line: string) => void;
  /** The routes without a parameter, by their keys. */
  #fixedRoutes: ReadonlyMap<string, HttpRoute> = new Map();
  #routes: readonly CompiledRoute[] = [];
  #cors: CorsConfiguration | undefined;
  #hosts: readonly string[] = [];
  #pages: ReadonlyMap<string, () => LocalPage> = new Map();
  #port = 0;
  #freeSlots = maxConcurrentRequests;
  readonly #waiting: (() => void)[] = [];
  readonly #serving = Promise.withResolvers<void>();

  private constructor(log: (line: string) => void) {
    this.#log = log;
    // Only the client closes an idle connection: otherwise a request could arrive as the server closes it.
    const newServer = (): Server =>
      createServer({ keepAliveTimeout: 0 }, (request, response) => void this.#serve(request, response));
    this.#servers = [newServer(), newServer()];
  }

  /**
   * Opens the port; requests wait until there are routes.
   * @param log receives the failures of functions
   * @throws Error when the port is taken
   */
  static async start(port: number, log: (line: string) => void): Promise<HttpApi> {
    const api = new HttpApi(log);
    const [server, ipv6Server] = api.#servers;
    api.#port = await listenOnLoopback(server, port);
    await listenOnIpv6Loopback(ipv6Server, api.#port).catch((error: unknown) => {
      // No one chose this port, so it is enough that it is free on the first address.
      if (port === 0) return;
      server.close();
      throw error;
    });
    return api;
  }

  /**
   * Starts to serve these routes, to waiting requests too.
   * @param options `cors` has the allowed origins, and `hosts` other names of this machine; `pages` are the local gateway's
   * own, by their paths
   */
  serve(
    routes: readonly HttpRoute[],
    {
      cors,
      hosts = [],
      pages = new Map(),
    }: {
      readonly cors?: CorsConfiguration | undefined;
      readonly hosts?: readonly string[];
      readonly pages?: ReadonlyMap<string, () => LocalPage>;
    } = {},
  ): void {
    this.#cors = cors;
    this.#hosts = hosts;
    this.#pages = pages;
    const hasParameter = ({ routeKey }: HttpRoute): boolean => routeKey.includes("{");
    const fixed = routes.filter((route) => !hasParameter(route));
    this.#fixedRoutes = new Map(fixed.map((route) => [route.routeKey, route]));
    this.#routes = routes.filter(hasParameter).map(compileRoute);
    this.#serving.resolve();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Accepts no more requests and waits a limited time for those in flight. */
  async stop(): Promise<void> {
    // Requests that still wait for routes get a 503.
    this.#serving.resolve();
    const listening = this.#servers.filter((server) => server.listening);
    const closed = Promise.all(listening.map((server) => once(server, "close")));
    for (const server of listening) {
      server.close();
      server.closeIdleConnections();
    }
    await Promise.race([closed, delay(drainTimeoutMs, undefined, { ref: false })]);
    for (const server of listening) server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#serving.promise;
      if (this.#fixedRoutes.size === 0 && this.#routes.length === 0) {
        return respond(response, 503, "Service Unavailable");
      }
      const body = await readBody(request);
      if (body === undefined) return respond(response, 413, "Request Entity Too Large");
      const { method = "GET", headers } = request;
      const cors = this.#cors;
      const hosts = this.#hosts;
      if (!isLocalRequest(headers, { hosts, origins: cors?.AllowOrigins ?? [] })) {
        return respond(response, 403, rejectionOfStranger);
      }
      if (cors !== undefined && isPreflight(method, headers)) {
        response.writeHead(204, preflightHeaders(cors, headers.origin)).end();
        return;
      }
      const url = urlOf(request);
      if (url === undefined) return respond(response, 400, "Bad Request");
      const page = method === "GET" || method === "HEAD" ? this.#pages.get(url.pathname)?.() : undefined;
      if (page !== undefined) {
        response.writeHead(200, page.headers).end(page.body);
        return;
      }
      const match = this.#match(method, url.pathname);
      if (match === undefined) return respond(response, 404, "Not Found");
      const { route, pathParameters } = match;
      const event = eventOf(request, { url, body, routeKey: route.routeKey, pathParameters });
      const invoke = async (): Promise<unknown> => route.invoke(event);
      const isWaiting = route.routeKey === callingRouteKey;
      const result = FunctionResponse.parse(await (isWaiting ? invoke() : this.#whenFree(invoke)));
      response
        .writeHead(result.statusCode, {
          ...result.headers,
          ...(result.cookies === undefined ? {} : { "set-cookie": result.cookies }),
          ...(cors === undefined ? {} : responseHeaders(cors, headers.origin)),
        })
        .end(Buffer.from(result.body, result.isBase64Encoded ? "base64" : "utf8"));
    } catch (error) {
      this.#log(`${request.method} ${request.url} got no response from its function: ${String(error)}`);
      if (error instanceof FunctionTimeout) respond(response, 503, "Service Unavailable");
      else respond(response, 500, "Internal Server Error");
    }
  }

  /** Runs a task as soon as fewer than the most run; tasks start in the order in which they came. */
  async #whenFree<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1;
    else await new Promise<void>((start) => void this.#waiting.push(start));
    try {
      return await task();
    } finally {
      const startNext = this.#waiting.shift();
      if (startNext === undefined) this.#freeSlots += 1;
      else startNext();
    }
  }

  #match(method: string, path: string): Match | undefined {
    // They come first, so that /sms/send does not match /sms/{id}.
    const fixed = this.#fixedRoutes.get(`${method} ${path}`);
    if (fixed !== undefined) return { route: fixed, pathParameters: {} };
    for (const route of this.#routes) {
      if (route.method !== method) continue;
      const match = route.pattern.exec(path);
      if (match === null) continue;
      const segments = Object.entries(match.groups ?? {});
      const pathParameters = segments.map(([name, segment]) => [name, decodePathSegment(segment)]);
      return { route, pathParameters: Object.fromEntries(pathParameters) };
    }
    const fallback = this.#fixedRoutes.get("$default");
    return fallback && { route: fallback, pathParameters: {} };
  }
}

/** Returns the URL of a request; undefined for an invalid one, and for a request with two Host headers. */
function urlOf({ url = "/", rawHeaders }: IncomingMessage): URL | undefined {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) return undefined;
  // A proxy sends the whole URL. A path may begin with two slashes, after which `URL` would expect a host.
  return URL.parse(/^https?:/i.test(url) ? url : `http://localhost${url}`) ?? undefined;
}

interface Match {
  readonly route: HttpRoute;
  readonly pathParameters: Record<string, string>;
}

function compileRoute(route: HttpRoute): CompiledRoute {
  const [method = "", path = ""] = route.routeKey.split(" ");
  const pattern = path.replace(/\{(\w+)\+\}/g, "(?<$1>.+)").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  return { ...route, method, pattern: new RegExp(`^${pattern}$`) };
}

function decodePathSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(chunks);
}

/** Sends a response of API Gateway's own. */
function respond(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
}
