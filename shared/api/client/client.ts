import type * as z from "zod/mini";

import { routes, type Operation } from "../routes.ts";
import type { Route } from "../routes/route.ts";
import { callOnce, type AnyOptions, type CallSettings, type Page } from "./call.ts";

export { everyRow } from "./call.ts";
export { RequestError } from "./errors.ts";

/*
 * A client of the API, typed from the route table. The published client sends its requests with the same
 * code (`client/package.ts`), and also repeats them.
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

/**
 * A client with one method for each operation. A method throws RequestError for whatever is not a success, and
 * what `fetch` throws when there is no response. It never repeats a request by itself.
 */
export function createClient(settings: CallSettings): Client {
  const methods = Object.entries<Route>(routes).map(([operation, route]) => [
    operation,
    async (options: AnyOptions = {}) => callOnce(settings, route, options),
  ]);
  // That each row got its method, with the types of its columns, is more than the compiler can follow.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(methods) as Client;
}
