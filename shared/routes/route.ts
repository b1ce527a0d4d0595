import type * as z from "zod/mini";

import type { ErrorCode } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";

/** One operation of the API: all that a customer, the gateway and the document need to know of it. */
export type Route = Access & Columns;

/** Who may call: who has a credential with a scope, only a person who is logged in, or anyone. */
type Access =
  | { readonly auth: "bearer"; readonly scope: Scope }
  | { readonly auth: "none" | "session"; readonly scope?: never };

/** A route as its function has it: the build leaves out what the operation answers with, which is for the document. */
export type ServedRoute = Omit<Route, "data">;

/** A route that asks for a credential. */
export type ProtectedRoute = Route & { readonly auth: "bearer" | "session" };

interface Columns {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST";
  readonly path: `/${string}`;
  /** The folder of the handler, `functions/<tag>/`. */
  readonly tag: string;
  readonly summary: string;
  readonly params?: z.ZodMiniType;
  readonly query?: z.ZodMiniType;
  /** A body is optional when its schema takes an absent one. */
  readonly body?: z.ZodMiniType;
  /** Whether the body may also come as a form (`application/x-www-form-urlencoded`). */
  readonly form?: true;
  /** Whether the body may be an array, too. */
  readonly list?: true;
  /** How large the body may be, 64 KB where nothing is said. */
  readonly maxBodyKilobytes?: number;
  readonly status: 200 | 201 | 202;
  /** What `data` in the response holds; of a paged route, what each of its rows holds. */
  readonly data: z.ZodMiniType;
  readonly paged?: true;
  /** Content types of a response that goes out as the handler made it, without the envelope. */
  readonly raw?: readonly string[];
  /** Whether the operation takes an Idempotency-Key. */
  readonly idempotent?: true;
  /**
   * Of an operation that is written into the audit log: the fields of its answer that the log keeps. They hold no secrets,
   * and as little of persons as will do, for nothing is ever taken from the log: of a `phoneNumber` it keeps a digest.
   */
  readonly audited?: readonly string[];
  /** Codes of the operation itself; those that follow from auth, body, query and path are not repeated. */
  readonly errors: readonly ErrorCode[];
}

/** Every error code that an operation can answer with: its own, and those that its other columns bring. */
export function errorsOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors, "INTERNAL"];
  if (route.auth !== "none") {
    codes.push(
      "UNAUTHORIZED",
      "ORGANIZATION_SUSPENDED",
      "INSUFFICIENT_SCOPE",
      "ADDRESS_NOT_ALLOWED",
      "RATE_LIMITED",
    );
  }
  // Whatever reads or writes the table may find it too busy.
  if (route.auth !== "none" || route.body !== undefined) codes.push("UNAVAILABLE");
  if (route.params !== undefined) codes.push("NOT_FOUND");
  if (route.query !== undefined) codes.push("VALIDATION_ERROR");
  if (route.body !== undefined) codes.push("VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  if (route.idempotent === true) {
    codes.push("VALIDATION_ERROR", "IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED");
  }
  return [...new Set(codes)];
}

/** What the path of a route looks like when its parameters are filled in. */
export function pathPattern({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
