import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { ApiError } from "../../contract/errors.ts";
import type { Actor } from "../auth/actor.ts";
import { epochSeconds, now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { durationMs, limitReached } from "../limits/rate-limit.ts";
import { log } from "../log.ts";
import { keys } from "../table/keys.ts";
import { updateItem } from "../table/table.ts";
import { updateOf } from "../table/update.ts";

/*
 * How many requests an organisation makes, over all functions. A write for each would cost more than most of them do, so
 * each running function counts for itself and tells the table of ten at a time. Who makes few is never written down; who
 * makes so many that others would notice is known to every function that they keep busy within ten requests. From then on
 * a function refuses them by what it remembers, which takes no read, no write, and a hundredth of the time.
 */

/** The stretch that is counted in. */
const windowMs = 10 * secondMs;

/** Requests that a function tells the table of at once. */
const toldAtOnce = 10;

/** So many seconds' worth of requests may come at the same moment. */
const burstSeconds = 2;

/** Organisations, and refused callers, that a function remembers. */
const maxRemembered = 10_000;

const CountedRequests = z.object({ requests: z.number() });

/** What this function has not told the table of yet, by organisation. */
const untold = new Map<string, { readonly windowStartMs: number; requests: number }>();

/** Who is refused until when: an organisation, and each credential that it was refused with. */
const refusedOrganizations = new Map<string, number>();
const refusedCallers = new Map<string, { readonly actor: Actor; readonly untilMs: number }>();

/**
 * Who calls with a credential that this function has refused for a moment, and is refused still: nothing has to be read to
 * tell.
 * @param authorization the request's header
 */
export function findRefusedCaller(authorization: string): Actor | undefined {
  if (refusedCallers.size === 0) return undefined;
  const refused = refusedCallers.get(hashOf(authorization));
  return refused !== undefined && now().getTime() < refused.untilMs ? refused.actor : undefined;
}

/**
 * Counts a request of an organisation, where the stage has a limit for it.
 * @param authorization the header that it came with
 * @throws ApiError RATE_LIMITED when the organisation makes more requests than it may
 */
export async function countRequest(actor: Actor, authorization: string): Promise<void> {
  const perSecond = config.requestsPerSecond();
  if (perSecond === undefined) return;
  const { organizationId } = actor;
  if (!isRefused(organizationId)) await count(organizationId, perSecond);
  const untilMs = refusedOrganizations.get(organizationId);
  if (untilMs === undefined || !isRefused(organizationId)) return;
  remember(refusedCallers, hashOf(authorization), { actor, untilMs });
  throw tooManyRequests(organizationId);
}

/** The refusal of an organisation's request. */
export function tooManyRequests(organizationId: string): ApiError {
  const waitMs = (refusedOrganizations.get(organizationId) ?? 0) - now().getTime();
  return limitReached({ name: "requests", max: config.requestsPerSecond() ?? 0, windowMs: secondMs }, waitMs);
}

function isRefused(organizationId: string): boolean {
  return now().getTime() < (refusedOrganizations.get(organizationId) ?? 0);
}

async function count(organizationId: string, perSecond: number): Promise<void> {
  const atMs = now().getTime();
  const windowStartMs = atMs - (atMs % windowMs);
  const known = untold.get(organizationId);
  const counted = known?.windowStartMs === windowStartMs ? known : { windowStartMs, requests: 0 };
  counted.requests += 1;
  if (counted !== known) remember(untold, organizationId, counted);
  if (counted.requests < toldAtOnce) return;
  counted.requests -= toldAtOnce;
  const requests = await tell(organizationId, windowStartMs);
  // The time that they would have taken at the rate that is allowed, but for the burst.
  const paceMs = durationMs(requests - burstSeconds * perSecond, perSecond);
  const untilMs = windowStartMs + Math.min(windowMs, paceMs);
  if (untilMs > now().getTime() && untilMs > (refusedOrganizations.get(organizationId) ?? 0)) {
    remember(refusedOrganizations, organizationId, untilMs);
  }
}

/** @returns what all functions have told of in the same stretch. A count that is lost refuses nobody. */
async function tell(organizationId: string, windowStartMs: number): Promise<number> {
  const expiresAt = epochSeconds(new Date(windowStartMs + 2 * windowMs));
  const told = updateOf(keys.limit("requests", `${organizationId}#${windowStartMs}`), {
    set: { entity: "requests", expiresAt },
    add: { requests: toldAtOnce },
  });
  try {
    const outcome = await updateItem(CountedRequests, told, { bestEffort: true });
    return outcome.applied ? outcome.item.requests : 0;
  } catch (error) {
    log.warn("requests.not_counted", { organizationId, error });
    return 0;
  }
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= maxRemembered) map.clear();
  map.set(key, value);
}

function hashOf(authorization: string): string {
  return createHash("sha256").update(authorization).digest("base64");
}
