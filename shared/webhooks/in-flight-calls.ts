import { randomBytes } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, epochSeconds, minuteMs, now, secondMs } from "../platform/clock.ts";
import type { Changes, Requirements } from "../platform/table/expressions.ts";
import { keys } from "../platform/table/keys.ts";
import { isFree } from "../platform/table/lease.ts";
import { findItem } from "../platform/table/read.ts";
import { deleteItem, type Outcome, updateItem, updateOf } from "../platform/table/write.ts";
import { isCallbacks } from "./callbacks.ts";
import { endpointOf, hostMark, organizationOf, trafficOf, type Callee } from "./callee.ts";
import type { WebhookRecord } from "./record.ts";
import type { Lane } from "./webhook-job.ts";

/**
 * The limit of in-flight calls to a webhook, and to a host over all of an organization's webhooks. The host may belong to
 * a third party.
 */
const maxOpenCalls = 20;

/**
 * The limits of an organization over all hosts, whose number it chooses, and of its test traffic, which is free. The queue of
 * first attempts has five times as many workers. A call that timed out counts for the whole of its lease. So an organization
 * whose calls all time out begins 40 in a minute, which hold seven workers on average.
 */
const maxOpenCallsOf = { live: 40, test: 10 };

/** The limit for a webhook whose last call failed: enough to notice its recovery. */
const maxOpenCallsFailing = 2;

/** Longer than a dispatcher can run, so that a call counts until its dispatcher has ended. */
const callLeaseMs = minuteMs;

/** A webhook whose calls take longer than this is slow, so that an early return to it is useless. */
const slowMs = 5 * secondMs;

/** The expected wait for a free slot: `soon` at a webhook that responds, `later` at a slow or failing one. */
const retrySeconds = { soon: 1, later: 15 };

/**
 * A webhook fails continuously while no call succeeds and the time between two failed calls is at most this. It is longer
 * than the longest wait between two attempts of a delivery, a day.
 */
const maxFailureGapMs = 2 * dayMs;

/** A webhook is disabled after failing continuously for this time, in at least this number of calls. A delivery makes fewer. */
const maxFailingMs = 5 * dayMs;
const minFailedCalls = 10;

/** The retention of this record after the last call. */
const retentionMs = 30 * dayMs;

export const InFlightCallsRecord = z.object({
  entity: z.literal("inFlightCalls"),
  /** The occupied slots: `<end of its lease>#<random>` of each call, and for an organization `#<host>` after it. */
  inFlightCalls: z._default(z.set(z.string()), new Set()),
  /** While it fails continuously: since when, in how many calls, and the outcome of the last one. */
  failingSince: z.optional(z.string()),
  failedCalls: z._default(z.int().check(z.nonnegative()), 0),
  lastFailedAt: z.optional(z.string()),
  lastFailedStatus: z.optional(z.int()),
  lastFailedError: z.optional(z.string()),
});
type InFlightCallsRecord = z.infer<typeof InFlightCallsRecord>;

const healthFields = [
  "failingSince",
  "failedCalls",
  "lastFailedAt",
  "lastFailedStatus",
  "lastFailedError",
] as const satisfies (keyof InFlightCallsRecord)[];

/** The failures of a webhook whose last call failed. */
export interface FailingHealth {
  readonly failingSince: string;
  /** Since then. */
  readonly failedCalls: number;
  readonly lastFailure: Failure & { readonly at: string };
}

/** The reason why a call failed, for the customer. Without a response it has no status. */
export interface Failure {
  readonly status?: number | undefined;
  readonly error: string;
}

/** The error of a call that took too long. */
export const timedOut = "timed out";

/** A call that counts as in flight until it is closed. */
export interface InFlightCall {
  readonly callee: Callee;
  readonly slot: string;
}

/**
 * Checks whether a webhook, its host and its organization have a slot for a call. A read costs the item's partition less
 * than a rejected write, and a webhook that hangs would cause many of these.
 * @returns the seconds until the next check; undefined when there is a slot
 */
export async function waitForSlot(callee: Callee, lane: Lane): Promise<number | undefined> {
  const waits = await Promise.all([
    waitFor(endpointOf(callee), (seen, open) => mayCall(seen, lane, open.length)),
    waitFor(organizationOf(callee), (_, open) => hasRoom(open, callee)),
  ]);
  const longest = Math.max(...waits.map((seconds) => seconds ?? 0));
  return longest === 0 ? undefined : longest;
}

/** Returns the wait for a webhook or for an organization, of which no failures are recorded. */
async function waitFor(
  whom: string,
  isFreeFor: (seen: InFlightCallsRecord, open: readonly string[]) => boolean,
): Promise<number | undefined> {
  const at = now();
  const seen = await findItem(InFlightCallsRecord, keys.inFlightCalls(whom));
  if (seen === undefined) return undefined;
  await forgetLapsed(whom, seen, at);
  const open = [...seen.inFlightCalls].filter((slot) => !hasLapsed(slot, at));
  if (isFreeFor(seen, open)) return undefined;
  const slow = new Date(at.getTime() - slowMs + callLeaseMs).toISOString();
  const isSlow = seen.failingSince !== undefined || [...seen.inFlightCalls].some((slot) => slot < slow);
  return isSlow ? retrySeconds.later : retrySeconds.soon;
}

/**
 * Occupies a slot of a webhook, and one of its organization that counts for the host too. Returns undefined when one of the
 * three has none.
 */
export async function openCall(callee: Callee): Promise<InFlightCall | undefined> {
  const at = now();
  const leaseUntil = new Date(at.getTime() + callLeaseMs).toISOString();
  const slot = `${leaseUntil}#${randomBytes(6).toString("base64url")}${hostMark(callee)}`;
  const [endpoint, organization] = [endpointOf(callee), organizationOf(callee)];
  if ((await takeSlot(endpoint, slot, at, maxOpenCalls)) === undefined) return undefined;
  const open = await takeSlot(organization, slot, at, maxOpenCallsOf[trafficOf(callee)]);
  // The slot itself is one of them. The first of several that race for the last one of the host keeps it.
  if (open !== undefined && countOfHost(open, callee) <= maxOpenCalls) return { callee, slot };
  const taken = open === undefined ? [endpoint] : [endpoint, organization];
  await Promise.all(taken.map(async (whom) => freeSlots(whom, [slot], at)));
  return undefined;
}

/** Occupies a slot. Returns all that are occupied, or undefined when there is none. */
async function takeSlot(whom: string, slot: string, at: Date, max: number): Promise<string[] | undefined> {
  const taken = await updateInFlightCalls(
    whom,
    at,
    { add: { inFlightCalls: new Set([slot]) } },
    {
      anyOf: [
        { absent: ["inFlightCalls"] },
        { sizeBelow: { inFlightCalls: maxOpenCallsFailing } },
        { sizeBelow: { inFlightCalls: max }, absent: ["failingSince"] },
      ],
    },
  );
  return taken.applied ? [...taken.item.inFlightCalls] : undefined;
}

async function freeSlots(whom: string, slots: readonly string[], at: Date): Promise<void> {
  await updateInFlightCalls(whom, at, { take: { inFlightCalls: new Set(slots) } });
}

function mayCall({ failingSince }: InFlightCallsRecord, lane: Lane, openCount: number): boolean {
  if (failingSince !== undefined && lane === "first") return false;
  return openCount < (failingSince === undefined ? maxOpenCalls : maxOpenCallsFailing);
}

function hasRoom(open: readonly string[], callee: Callee): boolean {
  return open.length < maxOpenCallsOf[trafficOf(callee)] && countOfHost(open, callee) < maxOpenCalls;
}

/** Returns how many slots of an organization count for the host of a call. */
function countOfHost(open: readonly string[], callee: Callee): number {
  const mark = hostMark(callee);
  return open.filter((slot) => slot.endsWith(mark)).length;
}

function hasLapsed(slot: string, at: Date): boolean {
  return isFree({ leaseUntil: slot.split("#")[0] }, at);
}

/** Frees the slots of dispatchers that ended without closing their calls. */
async function forgetLapsed(whom: string, { inFlightCalls }: InFlightCallsRecord, at: Date): Promise<void> {
  const lapsed = [...inFlightCalls].filter((slot) => hasLapsed(slot, at));
  if (lapsed.length > 0) await freeSlots(whom, lapsed, at);
}

/**
 * Frees the slots of a call and records its outcome. That of the organization stays after a time-out, until it lapses. A
 * webhook's health needs no additional writes, because these write the same items.
 * @returns how the webhook fails, if it does
 */
export async function closeCall(
  { callee, slot }: InFlightCall,
  failure: Failure | undefined,
): Promise<FailingHealth | undefined> {
  const at = now();
  const take = { inFlightCalls: new Set([slot]) };
  const [closed] = await Promise.all([
    failure === undefined
      ? updateInFlightCalls(endpointOf(callee), at, { take, remove: healthFields })
      : noteFailure(endpointOf(callee), at, failure, take),
    ...(failure?.error === timedOut ? [] : [freeSlots(organizationOf(callee), [slot], at)]),
  ]);
  return closed.applied ? healthOf(closed.item) : undefined;
}

/** Records a failed call. It continues the previous failures, or is the first one after a long gap. */
async function noteFailure(
  webhookId: string,
  at: Date,
  { status, error }: Failure,
  take: NonNullable<Changes<"inFlightCalls">["take"]>,
): Promise<Outcome<InFlightCallsRecord>> {
  const failedAt = at.toISOString();
  const last = { lastFailedAt: failedAt, lastFailedError: error };
  const withStatus = status === undefined ? last : { ...last, lastFailedStatus: status };
  const remove = status === undefined ? (["lastFailedStatus"] as const) : [];
  const continued = await updateInFlightCalls(
    webhookId,
    at,
    { take, remove, set: withStatus, setIfAbsent: { failingSince: failedAt }, add: { failedCalls: 1 } },
    {
      anyOf: [
        { absent: ["failingSince"] },
        { atLeast: { lastFailedAt: new Date(at.getTime() - maxFailureGapMs).toISOString() } },
      ],
    },
  );
  if (continued.applied) return continued;
  return updateInFlightCalls(webhookId, at, {
    take,
    remove,
    set: { ...withStatus, failingSince: failedAt, failedCalls: 1 },
  });
}

function healthOf(record: InFlightCallsRecord | undefined): FailingHealth | undefined {
  const {
    failingSince,
    failedCalls = 0,
    lastFailedAt,
    lastFailedStatus: status,
    lastFailedError,
  } = record ?? {};
  if (failingSince === undefined || lastFailedAt === undefined || lastFailedError === undefined)
    return undefined;
  return { failingSince, failedCalls, lastFailure: { at: lastFailedAt, status, error: lastFailedError } };
}

/** Returns how a webhook fails; undefined while its last call succeeded, or there was none. */
export async function findFailingHealth(webhookId: string): Promise<FailingHealth | undefined> {
  return healthOf(await findItem(InFlightCallsRecord, keys.inFlightCalls(webhookId), { consistent: true }));
}

/** Returns whether a webhook has failed continuously for long enough to be disabled. */
export function isToBeDisabled({ failingSince, failedCalls }: FailingHealth): boolean {
  return failedCalls >= minFailedCalls && now().getTime() - Date.parse(failingSince) >= maxFailingMs;
}

/**
 * Returns a webhook, or the endpoint of a callback: disabled while its host has failed for as long as disables a webhook. Two
 * days after its last failure the host is called again.
 */
export async function withHealth(callee: WebhookRecord): Promise<WebhookRecord> {
  const health = isCallbacks(callee.id) ? await findFailingHealth(endpointOf(callee)) : undefined;
  if (health === undefined || !isToBeDisabled(health)) return callee;
  const { at } = health.lastFailure;
  return now().getTime() - Date.parse(at) < maxFailureGapMs ? { ...callee, disabledAt: at } : callee;
}

/** Deletes the failures of a webhook, so that it is called like a new one. */
export async function deleteFailures(webhookId: string): Promise<void> {
  await updateInFlightCalls(webhookId, now(), { remove: healthFields });
}

/** Deletes the records of a webhook that was permanently removed, and of its organization. */
export async function deleteCalls(callee: Callee): Promise<void> {
  for (const whom of [endpointOf(callee), organizationOf(callee)]) await deleteItem(keys.inFlightCalls(whom));
}

/** Updates the item, or creates it. */
async function updateInFlightCalls(
  whom: string,
  at: Date,
  changes: Changes<"inFlightCalls">,
  requirements?: Requirements<"inFlightCalls">,
): Promise<Outcome<InFlightCallsRecord>> {
  const expiresAt = epochSeconds(new Date(at.getTime() + retentionMs));
  const set = { ...changes.set, entity: "inFlightCalls" as const, expiresAt };
  return updateItem(
    InFlightCallsRecord,
    updateOf(keys.inFlightCalls(whom), { ...changes, set }, requirements),
  );
}
