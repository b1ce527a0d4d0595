import middy from "@middy/core";
import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context as LambdaContext,
} from "aws-lambda";
import type * as z from "zod/mini";

import { ApiError, errorCatalogue, type ErrorCode, type RateLimitStatus } from "../../api/contract/errors.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { statusOf, type Route, type ServedRoute } from "../../api/routes/route.ts";
import type { Actor, Viewer } from "../auth/actor.ts";
import { awsCallsSoFar, inCall } from "../call-context.ts";
import { now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { log } from "../log.ts";
import { writeMetrics } from "../metrics.ts";
import type { Attempt, EndpointEvent, EndpointMiddleware } from "./event.ts";
import { errorHeaders, rateLimitHeaders } from "./response-headers.ts";
import { setSessionCookie } from "./session-cookie.ts";
import { sourceAddress } from "./source-address.ts";

type Output<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : undefined;
type Property<R, Name extends string> = R extends Record<Name, infer Value> ? Value : undefined;

/** The argument of a handler: the parts of the request that its route declares, already checked. */
export interface Call<R extends Route, Organization = unknown> {
  readonly actor: R["auth"] extends "none" ? undefined : Actor;
  readonly viewer: R["auth"] extends "none" ? undefined : Viewer;
  /** The actor's organization, as it was read for this call. */
  readonly organization: R["auth"] extends "none" ? undefined : Organization;
  readonly params: Output<Property<R, "params">>;
  readonly query: Output<Property<R, "query">>;
  readonly body: Output<Property<R, "body">>;
  readonly method: string;
  readonly path: string;
  /** The text after the question mark of the URL, unchanged. */
  readonly queryString: string;
  /** The headers of the request, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The cookies of the request, as `name=value`. */
  readonly cookies: readonly string[];
  /** The body as it came, for a route whose signature covers it. */
  readonly rawBody: string;
  /** The address that the request came from. */
  readonly sourceIp: string;
  /** The current attempt at the request, on an idempotent route that was called with an Idempotency-Key. */
  readonly attempt: Attempt | undefined;
  /** Reports a rate limit to the caller, in the headers of a successful response. */
  readonly reportRateLimit: (status: RateLimitStatus | undefined) => void;
  /** Sends the cookie of a new session of a browser. */
  readonly startBrowserSession: (cookie: string, endsAt: Date) => void;
  /** Deletes the cookie, if the request came with one. */
  readonly endBrowserSession: () => void;
}

/** A response that a handler makes itself. The pipeline adds the common headers. */
export interface RawResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The status, if it is not that of the route. */
  readonly status?: number;
}

/** The result of a handler: the route's `data`, or for a paged route its rows and their position. */
type Answer<R extends Route> = R extends { raw: readonly string[] }
  ? RawResponse
  : R extends { paged: true }
    ? Page<z.input<R["data"]>>
    : z.input<R["data"]> | (R extends { alternatives: readonly string[] } ? RawResponse : never);

export type Handle<R extends Route, Organization = unknown> = (
  call: Call<R, Organization>,
) => Promise<Answer<R>>;

export type LambdaHandler = (
  event: APIGatewayProxyEventV2,
  context: LambdaContext,
) => Promise<APIGatewayProxyStructuredResultV2>;

/**
 * Returns the Lambda handler of a route. It runs the middlewares in their order, then calls `handle` and wraps its result as
 * `{ data }`. Errors become `{ error }`. It writes one log line for each request.
 */
export function pipeline<const R extends Route, Organization = unknown>(
  route: R,
  middlewares: EndpointMiddleware[],
  handle: Handle<R, Organization>,
  nameOf: (method: string, path: string) => string = () => routeName(route),
): LambdaHandler {
  const handler = middy<EndpointEvent, unknown>()
    .use(requestLog(nameOf))
    .use(responseHeaders)
    .use(errorResponse(route))
    .use(successResponse(route))
    .use(middlewares)
    .handler(async (event) => {
      const { actor, viewer, organization, input, attempt, replayed } = event;
      if (replayed !== undefined) return replayed.answer;
      const call = {
        ...input,
        actor,
        viewer,
        organization,
        method: event.requestContext.http.method,
        path: event.rawPath,
        queryString: event.rawQueryString,
        headers: event.headers,
        cookies: event.cookies ?? [],
        get rawBody() {
          return Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8").toString("utf8");
        },
        sourceIp: sourceAddress(event),
        attempt,
        reportRateLimit: (status: RateLimitStatus | undefined) => {
          if (status !== undefined) event.rateLimit = status;
        },
        startBrowserSession: (cookie: string, endsAt: Date) => {
          event.browserSession = { endsAt, setCookie: setSessionCookie(cookie) };
        },
        endBrowserSession: () => {
          if (event.browserSession !== undefined) event.browserSession = { setCookie: setSessionCookie() };
        },
      };
      // The schemas of the route and the authentication have checked each part, which the compiler cannot follow.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return handle(call as unknown as Call<R, Organization>);
    });
  // The middlewares above have made a response of the handler's result or error.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const handled = handler as unknown as LambdaHandler;
  return async (event, context) =>
    inCall(async () => handled(event, context), event.requestContext.requestId);
}

/** Wraps the handler's result. */
function successResponse(route: ServedRoute): EndpointMiddleware {
  return {
    after: (request) => {
      const { replayed, rateLimit } = request.event;
      const ofLimit = rateLimit === undefined ? {} : rateLimitHeaders(rateLimit);
      const headers = replayed === undefined ? ofLimit : { "Idempotent-Replayed": "true" };
      const isIgnored = route.idempotent !== true && request.event.headers["idempotency-key"] !== undefined;
      const ofKey = isIgnored ? { "Idempotency-Key-Ignored": "true" } : {};
      request.response = success(route, request.response, { ...headers, ...ofKey });
    },
  };
}

/** Returns the response with a handler's result. */
export function success(
  route: ServedRoute,
  answer: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyStructuredResultV2 {
  if ((route.raw ?? route.alternatives) !== undefined && isRaw(answer)) return rawSuccess(route, answer);
  const isList = route.paged === true && isPage(answer);
  const body = JSON.stringify(isList ? { data: answer.rows, meta: answer.meta } : { data: answer });
  return { statusCode: statusOf(route), headers, body };
}

function rawSuccess(
  route: ServedRoute,
  { headers, body, status = statusOf(route) }: RawResponse,
): APIGatewayProxyStructuredResultV2 {
  const isText = typeof body === "string";
  return {
    statusCode: status,
    headers: { ...headers },
    body: isText ? body : Buffer.from(body).toString("base64"),
    isBase64Encoded: !isText,
  };
}

function isPage(answer: unknown): answer is Page<unknown> {
  return typeof answer === "object" && answer !== null && "rows" in answer && "meta" in answer;
}

function isRaw(answer: unknown): answer is RawResponse {
  return typeof answer === "object" && answer !== null && "headers" in answer && "body" in answer;
}

/** Converts an error to an error body. An unexpected error is logged, and the caller receives no details. */
function errorResponse(route: ServedRoute): EndpointMiddleware {
  return {
    onError: (request) => {
      // A middleware that ran before has found that the request succeeded after all.
      if (request.response !== undefined) return;
      const { requestId } = request.event.requestContext;
      const error = errorForCaller(route, request.error);
      const { code, message, details } = error;
      request.response = {
        statusCode: errorCatalogue[code].status,
        headers: { ...errorHeaders(error, request.event.headers["authorization"]) },
        body: JSON.stringify({ error: { code, message, requestId, docUrl: docUrlOf(code), details } }),
      };
    },
  };
}

/** Returns the address of the page about an error; undefined if the stage serves no documentation. */
function docUrlOf(code: ErrorCode): string | undefined {
  return config.docsEnabled() ? `${config.apiUrl()}/docs/errors/${code}` : undefined;
}

function errorForCaller(route: ServedRoute, error: unknown): ApiError {
  if (error instanceof ApiError) {
    if (error.cause !== undefined) {
      log.warn("request.failed", { route: routeName(route), error: error.cause });
    }
    return error;
  }
  log.error("request.crashed", { route: routeName(route), error });
  return new ApiError("INTERNAL");
}

const responseHeaders: EndpointMiddleware = { after: addHeaders, onError: addHeaders };

function addHeaders(request: { event: EndpointEvent; response: unknown }): void {
  const { response } = request;
  if (!isResponse(response)) return;
  if (request.event.requestContext.http.method === "HEAD") response.body = "";
  const { endsAt, setCookie } = request.event.browserSession ?? {};
  if (setCookie !== undefined) response.cookies = [setCookie];
  response.headers = {
    "Content-Type": "application/json; charset=utf-8",
    "X-Request-Id": request.event.requestContext.requestId,
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    ...(endsAt === undefined ? {} : { "X-Session-Ends-In": String(secondsUntil(endsAt)) }),
    ...response.headers,
  };
}

/** The clock of a browser may be wrong, so it receives a duration. */
function secondsUntil(moment: Date): number {
  return Math.max(0, Math.floor((moment.getTime() - now().getTime()) / secondMs));
}

function isResponse(response: unknown): response is APIGatewayProxyStructuredResultV2 {
  return typeof response === "object" && response !== null && "statusCode" in response;
}

function requestLog(nameOf: (method: string, path: string) => string): EndpointMiddleware {
  const write: EndpointMiddleware["after"] = ({ event, response, error }) => {
    const { organizationId, userId, credential } = event.actor ?? {};
    log.info("request", {
      route: nameOf(event.requestContext.http.method, event.rawPath),
      status: isResponse(response) ? response.statusCode : undefined,
      durationMs: Date.now() - event.requestContext.timeEpoch,
      organizationId,
      // An API key identifies its user.
      ...(credential?.type === "apiKey" ? { apiKeyId: credential.keyId } : { userId }),
      sourceIp: sourceAddress(event),
      errorCode: error instanceof ApiError ? error.code : undefined,
      ...(event.requestContext.http.method === "POST" && { messageIds: messageIdsIn(response) }),
      ...awsCallsSoFar(),
    });
    writeMetrics();
  };
  return { after: write, onError: write };
}

/** The most ids in a line of the log. The line of a larger batch has its first ones. */
const maxMessageIds = 100;

/** Returns the ids of the messages that a response names, and no more than {@link maxMessageIds}; undefined for none. */
function messageIdsIn(response: unknown): readonly string[] | undefined {
  const body = isResponse(response) ? response.body : undefined;
  const ids = new Set(body?.match(/\bmsg_[\dA-Z]{26}\b/g));
  return ids.size === 0 ? undefined : [...ids].slice(0, maxMessageIds);
}

/** Returns the method and path of a route, for example `POST /v1/sms/send`. */
export function routeName(route: ServedRoute): string {
  return `${route.method} ${route.path}`;
}
