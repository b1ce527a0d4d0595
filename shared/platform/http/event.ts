import type { MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

import type { RateLimitStatus } from "../../contract/errors.ts";
import type { AuditEntryRecord } from "../audit-log.ts";
import type { Actor } from "../auth/actor.ts";
import type { Update } from "../table/table.ts";

/** One try at an idempotent request. */
export interface Attempt {
  /** The write that stores the answer. It belongs into the transaction of what the request does. */
  complete(answer: unknown): Update;
}

/** An attempt as those see it who have to end it. */
export interface BegunAttempt extends Attempt {
  /**
   * Forgets the attempt, which has failed. That also refuses whatever it still has under way.
   * @returns its answer if it turns out to be done all the same, because only the answer to its last write was lost
   */
  fail(): Promise<Replay | undefined>;
}

/** What a request was answered before. */
export interface Replay {
  readonly answer: unknown;
}

/** The event of a request, and what the middlewares have found out about it. */
export interface EndpointEvent extends APIGatewayProxyEventV2 {
  actor?: Actor;
  organization?: unknown;
  /** The parts of the request as the route's schemas have checked them. */
  input?: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  attempt?: BegunAttempt;
  /** The answer that an earlier request with the same Idempotency-Key got. */
  replayed?: Replay;
  rateLimit?: RateLimitStatus;
  /** On a route that is audited: what stands in the audit log of the request. */
  auditEntry?: AuditEntryRecord;
}

export type EndpointMiddleware = MiddlewareObj<EndpointEvent, unknown>;
