import type { MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

import type { RateLimitStatus } from "../../api/contract/errors.ts";
import type { Actor, Viewer } from "../auth/actor.ts";
import type { AuditEntryRecord } from "../table/audit-log.ts";
import type { Update } from "../table/write.ts";

/** One attempt at an idempotent request. */
export interface Attempt {
  /** The key of the request, and the hash of its content. Both are the same in each repeat of the request. */
  readonly request: { readonly key: string; readonly hash: string };
  /** Returns the write that stores the response. It belongs into the transaction of the request. */
  complete(answer: unknown): Update<"idempotency">;
}

/** An attempt as its owner sees it, who can end it. */
export interface BegunAttempt extends Attempt {
  /**
   * Deletes the attempt, which has failed. Then writes of the attempt that are still in flight are rejected.
   * @returns its response if it succeeded after all, because only the response to its last write was lost
   */
  fail(): Promise<Replay | undefined>;
}

/** The response of an earlier, equal request. */
export interface Replay {
  readonly answer: unknown;
}

/** The event of a request, with the results of the middlewares. */
export interface EndpointEvent extends APIGatewayProxyEventV2 {
  actor?: Actor;
  viewer?: Viewer;
  organization?: unknown;
  /** The parts of the request as the route's schemas have checked them. */
  input?: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  attempt?: BegunAttempt;
  /** The response that an earlier request with the same Idempotency-Key received. */
  replayed?: Replay;
  rateLimit?: RateLimitStatus;
  /** The session of the browser that the request came from or begins: its end, and a change of its cookie. */
  browserSession?: { readonly endsAt?: Date; readonly setCookie?: string };
  /** The entry of the request in the audit log, on an audited route. */
  auditEntry?: AuditEntryRecord;
}

export type EndpointMiddleware = MiddlewareObj<EndpointEvent, unknown>;
