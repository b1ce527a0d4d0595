import type * as z from "zod/mini";

import type { ErrorCode } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";

/** One operation of the API: all that a customer, the gateway and the document need to know of it. */
export type Route = Access & Audience & Columns;

/** The credential that a route requires: any with the scope, a session only, or none. */
type Access =
  | { readonly scope: Scope; readonly auth?: never }
  | { readonly auth: "none" | "session"; readonly scope?: never };

/** Customers, or programs of the gateway: then the document, the documentation and the clients leave the route out. */
type Audience =
  | {
      readonly internal?: never;
      /** The effect of the operation beyond its summary, its limits, or what to call next. */
      readonly description: string;
    }
  | { readonly internal: true; readonly description?: never };

/** A route in the table of all routes, with the folder of its handler, `functions/<tag>/`. */
export type TaggedRoute = Route & { readonly tag: string };

/** A route as its function has it: the build leaves out the schema of the response, which is for the document. */
export type ServedRoute = Omit<Route, "data">;

/** A route that requires a credential. */
export type ProtectedRoute = Route & { readonly auth?: "session" };

interface Columns {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  readonly path: `/${string}`;
  readonly summary: string;
  readonly params?: z.ZodMiniType;
  readonly query?: z.ZodMiniType;
  /** A body is optional when its schema takes an absent one. */
  readonly body?: z.ZodMiniType;
  /** Whether the body may also come as a form (`application/x-www-form-urlencoded`). */
  readonly form?: true;
  /** Whether the body may be an array, too. */
  readonly list?: true;
  /** How large the body may be, 64 KB by default. */
  readonly maxBodyKilobytes?: number;
  /** The status of a successful response, 200 by default. */
  readonly status?: 200 | 201 | 202;
  /** The schema of `data` in the response; for a paged route, of each row. */
  readonly data: z.ZodMiniType;
  readonly paged?: true;
  /** Content types of a response that goes out as the handler made it, without the envelope. */
  readonly raw?: readonly string[];
  /** Content types that a caller can request with `Accept` instead of JSON. The handler makes such a response itself. */
  readonly alternatives?: readonly string[];
  /** Whether a test key may call the operation, which then reaches test messages, and webhooks for them, only. */
  readonly testKeys?: true;
  /** Whether a session needs a recent password, where the stage requires one. API keys have scopes instead. */
  readonly recentProof?: true;
  /** Whether a member without a second factor may call the operation although the organization requires one. */
  readonly withoutSecondFactor?: true;
  /**
   * Whether an API key with limits may call an operation that is not a GET. Its limits have to apply to all that follows:
   * a list, a template or a setting also changes what others send, without these limits.
   */
  readonly limitedKeys?: true;
  /**
   * Whether the operation debits the wallet. The debit checks suspension and pause itself, so the organization of an API key may
   * be as it was about a second ago.
   */
  readonly debits?: true;
  /** Whether the operation takes an Idempotency-Key. */
  readonly idempotent?: true;
  /** Whether its handler recognizes repeats itself, because a response must not be given again for another code. */
  readonly recognizesRepeats?: true;
  /**
   * Whether an Idempotency-Key is rejected, because the response cannot be kept. It has a secret that is shown once, or the
   * caller has no organization yet.
   */
  readonly rejectsIdempotencyKey?: true;
  /** A secret of the body that has too few values for a hash: requests with the same Idempotency-Key may differ in it. */
  readonly unhashed?: string;
  /**
   * The fields of the response that the audit log keeps. They hold no secrets and as little personal data as possible,
   * because nothing is ever deleted from the log. A `phoneNumber` is kept as a digest.
   */
  readonly audited?: readonly string[];
  /** Codes of the operation itself; those that follow from auth, body, query and path are not repeated. */
  readonly errors?: readonly ErrorCode[];
}

/** Returns the status of a successful response. */
export function statusOf({ status = 200 }: Pick<Route, "status">): 200 | 201 | 202 {
  return status;
}

/** Returns the methods of a route. Monitors and link checkers send HEAD to what anyone may GET (RFC 9110, 9.1). */
export function methodsOfRoute({ method, auth }: Pick<Route, "auth" | "method">): readonly string[] {
  return method === "GET" && auth === "none" ? ["GET", "HEAD"] : [method];
}

/** Whether the response is kept for repeats with the same Idempotency-Key. */
export function keepsResponse({ idempotent, recognizesRepeats }: ServedRoute): boolean {
  return idempotent === true && recognizesRepeats !== true;
}

/** Returns every error code of an operation: its own, and those that follow from its other columns. */
export function errorsOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...(route.errors ?? []), "INTERNAL"];
  if (route.auth !== "none") {
    codes.push(
      "UNAUTHORIZED",
      "ORGANIZATION_SUSPENDED",
      "INSUFFICIENT_SCOPE",
      "ADDRESS_NOT_ALLOWED",
      "RATE_LIMITED",
    );
    if (route.testKeys !== true) codes.push("TEST_KEY_NOT_ALLOWED");
    if (route.withoutSecondFactor !== true) codes.push("SECOND_FACTOR_NOT_SET_UP");
    if (route.recentProof === true) codes.push("REAUTHENTICATION_REQUIRED");
  }
  // The table may reject any read or write because it is too busy.
  if (route.auth !== "none" || route.body !== undefined) codes.push("UNAVAILABLE");
  if (route.params !== undefined) codes.push("NOT_FOUND");
  if (route.query !== undefined) codes.push("VALIDATION_ERROR");
  if (route.body !== undefined) codes.push("VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  if (route.rejectsIdempotencyKey === true) codes.push("VALIDATION_ERROR");
  if (route.idempotent === true) codes.push("VALIDATION_ERROR");
  if (keepsResponse(route)) codes.push("IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED");
  return [...new Set(codes)];
}

/** The pattern of a route's path with parameters. */
export function pathPattern({ path }: Route): RegExp {
  return new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replaceAll(/\{\w+\+\}/g, ".+")
      .replaceAll(/\{\w+\}/g, "[^/]+")}$`,
  );
}
