import middy, { type MiddlewareObj } from "@middy/core";
import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context as LambdaContext,
} from "aws-lambda";
import type * as z from "zod";

import { ApiError, errorCatalogue, invalidField } from "../../contract/errors.ts";
import { IdempotencyKey, type Page } from "../../contract/primitives.ts";
import type { Route } from "../../routes/route.ts";
import { authenticate, type Actor } from "../auth/authenticate.ts";
import { warmSessionKey } from "../auth/session-token.ts";
import { log } from "../log.ts";
import { once, type Attempt } from "./idempotency.ts";
import { parseInput } from "./request-input.ts";

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Property<R, Name extends string> = R extends Record<Name, infer Value> ? Value : undefined;

/** What a handler is called with: the parts of the request that its route declares, already checked. */
interface Call<R extends Route> {
  readonly actor: R["auth"] extends "bearer" ? Actor : undefined;
  readonly params: Output<Property<R, "params">>;
  readonly query: Output<Property<R, "query">>;
  readonly body: Output<Property<R, "body">>;
  readonly path: string;
  /** The headers of the request, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The address that the request came from. */
  readonly sourceIp: string;
  /** On an idempotent route that was called with an Idempotency-Key: the present try at the request. */
  readonly attempt: Attempt | undefined;
}

/** A response that a handler makes by itself; the pipeline adds the headers that all have. */
export interface RawResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** What a handler returns: the route's `data`, or for a paged route its rows and where they stand. */
type Answer<R extends Route> = R extends { raw: readonly string[] }
  ? RawResponse
  : R extends { paged: true }
    ? Page<z.input<R["data"]>>
    : z.input<R["data"]>;

type Handle<R extends Route> = (call: Call<R>) => Promise<Answer<R>>;

interface EndpointEvent extends APIGatewayProxyEventV2 {
  actor?: Actor;
}

type EndpointMiddleware = MiddlewareObj<EndpointEvent, APIGatewayProxyStructuredResultV2>;

/**
 * The Lambda handler of a route: authenticates, parses the input with the route's schemas, calls `handle` and
 * wraps what it returns as `{ data }`. Errors leave as `{ error }`; one log line is written for each request.
 */
export function endpoint<const R extends Route>(
  route: R,
  handle: Handle<R>,
): (event: APIGatewayProxyEventV2, context: LambdaContext) => Promise<APIGatewayProxyStructuredResultV2> {
  if (route.auth === "bearer") void warmSessionKey();
  return middy<EndpointEvent, APIGatewayProxyStructuredResultV2>()
    .use(requestLog(route))
    .use(responseHeaders)
    .use(errorResponse(route))
    .use(authentication(route))
    .handler(async (event) => {
      // The route's schemas have checked each part, which the compiler cannot follow through the generic.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const call = {
        ...parseInput(route, event),
        actor: event.actor,
        path: event.rawPath,
        headers: event.headers,
        sourceIp: event.requestContext.http.sourceIp,
        attempt: undefined,
      } as Call<R>;
      const key = route.idempotent === true ? idempotencyKey(event) : undefined;
      if (key === undefined || event.actor === undefined) return success(route, await handle(call));
      const { organizationId } = event.actor;
      const content = [routeName(route), call.params, call.query, call.body];
      const { answer, replayed } = await once({ organizationId, key, content }, async (attempt) =>
        handle({ ...call, attempt }),
      );
      return success(route, answer, replayed ? { "Idempotent-Replayed": "true" } : {});
    });
}

function idempotencyKey(event: APIGatewayProxyEventV2): string | undefined {
  const key = event.headers["idempotency-key"];
  const parsed = IdempotencyKey.optional().safeParse(key);
  if (parsed.success) return parsed.data;
  throw invalidField("Idempotency-Key", parsed.error.issues[0]?.message ?? "is not valid");
}

function success(
  route: Route,
  answer: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  if (route.raw !== undefined && isRaw(answer)) return rawSuccess(route, answer);
  return { statusCode: route.status, headers, body: successBody(route, answer) };
}

function successBody(route: Route, answer: unknown): string {
  return JSON.stringify(
    route.paged === true && isPage(answer) ? { data: answer.rows, meta: answer.meta } : { data: answer },
  );
}

function rawSuccess(route: Route, { headers, body }: RawResponse): APIGatewayProxyStructuredResultV2 {
  const isText = typeof body === "string";
  return {
    statusCode: route.status,
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

function authentication(route: Route): EndpointMiddleware {
  return {
    before: async ({ event }) => {
      if (route.auth === "bearer") event.actor = await authenticate(event.headers["authorization"]);
    },
  };
}

/** Turns what was thrown into our error body. What was not meant for the caller is logged and says nothing. */
function errorResponse(route: Route): EndpointMiddleware {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const { code, message, details, headers } = errorForCaller(route, requestId, request.error);
      request.response = {
        statusCode: errorCatalogue[code].status,
        headers: { ...headers },
        body: JSON.stringify({ error: { code, message, requestId, details } }),
      };
    },
  };
}

function errorForCaller(route: Route, requestId: string, error: unknown): ApiError {
  if (error instanceof ApiError) {
    if (error.cause !== undefined) {
      log.warn("request.failed", { requestId, route: routeName(route), error: error.cause });
    }
    return error;
  }
  log.error("request.crashed", { requestId, route: routeName(route), error });
  return new ApiError("INTERNAL");
}

const responseHeaders: EndpointMiddleware = { after: addHeaders, onError: addHeaders };

function addHeaders(request: {
  event: EndpointEvent;
  response: APIGatewayProxyStructuredResultV2 | null | undefined;
}): void {
  if (request.response == null) return;
  request.response.headers = {
    "Content-Type": "application/json; charset=utf-8",
    "X-Request-Id": request.event.requestContext.requestId,
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    ...request.response.headers,
  };
}

function requestLog(route: Route): EndpointMiddleware {
  const write: EndpointMiddleware["after"] = ({ event, response, error }) => {
    log.info("request", {
      requestId: event.requestContext.requestId,
      route: routeName(route),
      status: response?.statusCode,
      durationMs: Date.now() - event.requestContext.timeEpoch,
      organizationId: event.actor?.organizationId,
      errorCode: error instanceof ApiError ? error.code : undefined,
    });
  };
  return { after: write, onError: write };
}

function routeName(route: Route): string {
  return `${route.method} ${route.path}`;
}
