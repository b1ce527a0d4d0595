import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { ApiError } from "../../api/contract/errors.ts";
import type { Actor } from "../auth/actor.ts";
import { BoundedMap } from "../bounded-map.ts";
import { epochSeconds, now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { durationMs, limitReached } from "../limits/rate-limit.ts";
import { log } from "../log.ts";
import { keys } from "../table/keys.ts";
import { updateItem, updateOf } from "../table/write.ts";

/*
 * The request rate of an organization, over all functions. A write for each request would cost more than most requests, so
 * each instance counts for itself and reports ten requests at a time. Low-volume callers cause no writes. Each instance
 * detects a heavy caller within ten requests, and then rejects it from memory, without a read or a write.
 */

/** The period of one counter. */
const windowMs = 10 * secondMs;

/** Requests that an instance reports to the table in one write. */
const reportedAtOnce = 10;

/** The size of the largest burst, as seconds of the allowed rate. */
const burstSeconds = 2;

export const CountedRequests = z.object({ requests: z.number() });

/** Requests that this instance has not reported yet, by organization. */
const unreported = new BoundedMap<{ readonly windowStartMs: number; requests: number }>();

/** Until when an organization is rejected, and each credential that it used meanwhile. */
const rejectedOrganizations = new BoundedMap<number>();
const rejectedCallers = new BoundedMap<{ readonly actor: Actor; readonly untilMs: number }>();

/**
 * Returns the caller of a credential that this instance rejects at the moment, without reading the table.
 * @param authorization the request's header
 */
export function findRejectedCaller(authorization: string): Actor | undefined {
  if (rejectedCallers.size === 0) return undefined;
  const rejected = rejectedCallers.get(hashOf(authorization));
  return rejected !== undefined && now().getTime() < rejected.untilMs ? rejected.actor : undefined;
}

/**
 * Counts a request of an organization, if the stage has a limit.
 * @param authorization the header that it came with
 * @throws ApiError RATE_LIMITED when the organization exceeds the limit
 */
export async function countRequest(actor: Actor, authorization: string): Promise<void> {
  const perSecond = config.requestsPerSecond();
  if (perSecond === undefined) return;
  const { organizationId } = actor;
  if (!isRejected(organizationId)) await count(organizationId, perSecond);
  const untilMs = rejectedOrganizations.get(organizationId);
  if (untilMs === undefined || !isRejected(organizationId)) return;
  rejectedCallers.set(hashOf(authorization), { actor, untilMs });
  throw tooManyRequests(organizationId);
}

/** Returns the error for a request of an organization that is rejected. */
export function tooManyRequests(organizationId: string): ApiError {
  const waitMs = (rejectedOrganizations.get(organizationId) ?? 0) - now().getTime();
  return limitReached({ name: "requests", max: config.requestsPerSecond() ?? 0, windowMs: secondMs }, waitMs);
}

function isRejected(organizationId: string): boolean {
  return now().getTime() < (rejectedOrganizations.get(organizationId) ?? 0);
}

async function count(organizationId: string, perSecond: number): Promise<void> {
  const atMs = now().getTime();
  const windowStartMs = atMs - (atMs % windowMs);
  const known = unreported.get(organizationId);
  const counted = known?.windowStartMs === windowStartMs ? known : { windowStartMs, requests: 0 };
  counted.requests += 1;
  if (counted !== known) unreported.set(organizationId, counted);
  if (counted.requests < reportedAtOnce) return;
  counted.requests -= reportedAtOnce;
  const requests = await reportRequests(organizationId, windowStartMs);
  // The time that the requests take at the allowed rate, without the burst.
  const allowedMs = durationMs(requests - burstSeconds * perSecond, perSecond);
  const untilMs = windowStartMs + Math.min(windowMs, allowedMs);
  if (untilMs > now().getTime() && untilMs > (rejectedOrganizations.get(organizationId) ?? 0)) {
    rejectedOrganizations.set(organizationId, untilMs);
  }
}

/** Reports requests. @returns the requests of all instances in the same period; 0 if the table does not respond */
async function reportRequests(organizationId: string, windowStartMs: number): Promise<number> {
  const expiresAt = epochSeconds(new Date(windowStartMs + 2 * windowMs));
  const report = updateOf(keys.requests(organizationId, windowStartMs), {
    set: { entity: "requests", expiresAt },
    add: { requests: reportedAtOnce },
  });
  try {
    const outcome = await updateItem(CountedRequests, report, { bestEffort: true });
    return outcome.applied ? outcome.item.requests : 0;
  } catch (error) {
    log.warn("requests.not_counted", { organizationId, error });
    return 0;
  }
}

function hashOf(authorization: string): string {
  return createHash("sha256").update(authorization).digest("base64");
}
