import { RequestError } from "./errors.ts";

/*
 * One call of the API. It needs only web standards, so that it works in each JavaScript runtime.
 */

/** The columns of an operation's row that a client needs. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly auth?: string;
  readonly paged?: true;
  readonly raw?: readonly string[];
  readonly idempotent?: true;
}

/** The settings of a client. */
export interface CallSettings {
  /** The address of the gateway, without a slash at its end. */
  readonly baseUrl: string;
  /** The secret of an API key, or a session token. */
  readonly credential?: string | undefined;
  /** More headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets each response before its body is read, for example for a log, or for its headers. */
  readonly onResponse?: (response: Response) => void;
  /** Used instead of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The options of any call. */
export interface AnyOptions extends Pick<CallSettings, "headers" | "onResponse"> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

interface PageMeta {
  /** Absent when the request has a `cursor`. */
  readonly page?: number | undefined;
  readonly limit: number;
  /** Rows in the whole list. */
  readonly total: number;
  readonly totalPages: number;
  /** Present when more rows follow. */
  readonly nextCursor?: string | undefined;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly meta: PageMeta;
}

/**
 * Sends one request. @returns the `data` of the response, a page of a list, or the text of a raw response
 * @throws RequestError if the response is not a success, and what `fetch` throws if there is none
 */
export async function callOnce(
  settings: CallSettings,
  endpoint: Endpoint,
  options: AnyOptions,
): Promise<unknown> {
  const { credential, fetch: sendRequest = fetch } = settings;
  const { body, idempotencyKey, signal } = options;
  const response = await sendRequest(settings.baseUrl + pathOf(endpoint, options), {
    method: endpoint.method,
    headers: {
      ...settings.headers,
      ...options.headers,
      ...(endpoint.auth !== "none" && credential !== undefined
        ? { Authorization: `Bearer ${credential}` }
        : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  (options.onResponse ?? settings.onResponse)?.(response);
  const text = await response.text();
  if (!response.ok) throw new RequestError(response, text);
  if (endpoint.raw !== undefined) return text;
  // The fields are accepted as they come: a newer gateway may send more than this client knows.
  const { data, meta }: { data: unknown; meta: unknown } = JSON.parse(text);
  return endpoint.paged === true ? { rows: data, meta } : data;
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

function pathOf(endpoint: Endpoint, { params = {}, query = {} }: AnyOptions): string {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
