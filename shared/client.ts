import * as z from "zod/mini";

import { errorCatalogue, type ErrorCode, type ErrorDetail } from "./contract/errors.ts";
import { ErrorBody, PageMeta, type Page } from "./contract/primitives.ts";
import { routes, type Operation } from "./routes.ts";
import type { Route } from "./routes/route.ts";

/*
 * A client of the API, typed from the route table. It needs `fetch` and the contract, nothing of the server's.
 */

type PathOptions<R> = R extends { params: infer Params extends z.ZodMiniType }
  ? { params: z.input<Params> }
  : unknown;

/** All of a query's fields have defaults or may be left out. */
type QueryOptions<R> = R extends { query: infer Query extends z.ZodMiniType }
  ? { query?: Partial<z.output<Query>> }
  : unknown;

type BodyOptions<R> = R extends { body: infer Body extends z.ZodMiniType }
  ? undefined extends z.input<Body>
    ? { body?: z.input<Body> }
    : { body: z.input<Body> }
  : unknown;

type RepeatOptions<R> = R extends { idempotent: true } ? { idempotencyKey?: string } : unknown;

type CallOptions<R> = PathOptions<R> & QueryOptions<R> & BodyOptions<R> & RepeatOptions<R>;

/** The result of a call: `data`, one page of the rows of a list, or the text of a raw response. */
type Result<R extends Route> = R extends { raw: readonly string[] }
  ? string
  : R extends { paged: true }
    ? Page<z.output<R["data"]>>
    : z.output<R["data"]>;

/** The options can be left out where all of them can. */
type Arguments<R> =
  Partial<CallOptions<R>> extends CallOptions<R> ? [options?: CallOptions<R>] : [options: CallOptions<R>];

export type Client = {
  readonly [O in Operation]: (
    ...options: Arguments<(typeof routes)[O]>
  ) => Promise<Result<(typeof routes)[O]>>;
};

export interface ClientSettings {
  /** The address of the gateway, without a slash at its end. */
  readonly baseUrl: string;
  /** A session token or the secret of an API key. */
  readonly credential?: string;
  /** Used instead of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** A response that is not a success. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  /** Absent if API Gateway itself responded, or if the code is newer than this client. */
  readonly code: ErrorCode | undefined;
  readonly requestId: string | undefined;
  /** The fields that a VALIDATION_ERROR is about. */
  readonly details: readonly ErrorDetail[];
  /** How long to wait before the next try, if the response has `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, text: string) {
    const { error } = z
      .catch(z.object({ error: z.partial(ErrorBody.shape.error) }), { error: {} })
      .parse(parseJson(text));
    super(error.message ?? `the gateway responded with ${response.status}`);
    this.status = response.status;
    this.code = error.code !== undefined && isErrorCode(error.code) ? error.code : undefined;
    this.requestId = error.requestId;
    this.details = error.details ?? [];
    const retryAfter = response.headers.get("Retry-After");
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/**
 * A client with one method for each operation. A method throws RequestError for whatever is not a success, and
 * what `fetch` throws when there is no response. It never repeats a request by itself.
 */
export function createClient(settings: ClientSettings): Client {
  const methods = Object.entries<Route>(routes).map(([operation, route]) => [
    operation,
    async (options: AnyOptions = {}) => send(settings, route, options),
  ]);
  // That each row got its method, with the types of its columns, is more than the compiler can follow.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(methods) as Client;
}

/** All rows of a list, read page by page: `everyRow((page) => client.listSms({ query: { limit: 100, ...page } }))`. */
export async function* everyRow<Row>(
  readPage: (next: { cursor?: string }) => Promise<Page<Row>>,
): AsyncGenerator<Row, void> {
  let page = await readPage({});
  yield* page.rows;
  while (page.meta.nextCursor !== undefined) {
    page = await readPage({ cursor: page.meta.nextCursor });
    yield* page.rows;
  }
}

interface AnyOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

async function send(settings: ClientSettings, route: Route, options: AnyOptions): Promise<unknown> {
  const { credential, fetch: sendRequest = fetch } = settings;
  const { body, idempotencyKey } = options;
  const response = await sendRequest(settings.baseUrl + pathOf(route, options), {
    method: route.method,
    headers: {
      ...(route.auth !== "none" && credential !== undefined ? { Authorization: `Bearer ${credential}` } : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new RequestError(response, text);
  if (route.raw !== undefined) return text;
  const { data, meta } = Envelope.parse(JSON.parse(text));
  return route.paged === true ? { rows: data, meta } : data;
}

/** The rows and fields themselves are taken as they come: a newer gateway may send more than this client knows. */
const Envelope = z.object({ data: z.unknown(), meta: z.optional(PageMeta) });

function pathOf(route: Route, { params = {}, query = {} }: AnyOptions): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function isErrorCode(code: string): code is ErrorCode {
  return code in errorCatalogue;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
