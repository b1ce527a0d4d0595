import { randomUUID } from "node:crypto";

import * as z from "zod";

import { dayMs, epochSeconds, minuteMs, now, secondMs } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { readItem, updateItem } from "../platform/table/table.ts";

/** The calls that an endpoint may leave unanswered at once. The queues' workers are ten times as many. */
const maxOpenCalls = 20;

/** The same for an endpoint whose last call failed: enough to notice that it is up again. */
const maxOpenCallsFailing = 2;

/** Longer than a dispatcher can run, so that a call counts until its dispatcher is surely gone. */
const leaseMs = minuteMs;

/** An endpoint whose calls take longer than this is slow: there is no use in coming back soon. */
const slowMs = 5 * secondMs;

/** How soon a place may be free at an endpoint that answers, and at one that is slow or failing. */
const comeBackSeconds = { soon: 1, later: 15 };

/** Nothing is remembered of an endpoint that is not called for so long. */
const retentionMs = 30 * dayMs;

const OpenCallsRecord = z.object({
  entity: z.literal("openCalls"),
  /** `<end of its lease>#<random>` of each call. */
  openCalls: z.set(z.string()).default(new Set()),
  /** When the first call failed after the last one that succeeded. */
  failingSince: z.string().optional(),
});
type OpenCallsRecord = z.infer<typeof OpenCallsRecord>;

/** On which queue a job came: first tries only go to endpoints that answer. */
export const Lane = z.enum(["first", "retry"]);
export type Lane = z.infer<typeof Lane>;

/** A call that counts as unanswered until it is closed. */
export interface OpenCall {
  readonly webhookId: string;
  readonly place: string;
}

/**
 * Looks whether an endpoint has a place for a call. A read costs the item's partition less than a refused write,
 * and many are refused where an endpoint hangs.
 * @returns how many seconds later to look again, or undefined when there is a place
 */
export async function waitForSlot(webhookId: string, lane: Lane): Promise<number | undefined> {
  const at = now();
  const seen = await readItem(OpenCallsRecord, keys.openCalls(webhookId));
  if (seen === undefined) return undefined;
  await forgetLapsed(webhookId, seen, at);
  if (mayCall(seen, lane, at)) return undefined;
  const slow = new Date(at.getTime() - slowMs + leaseMs).toISOString();
  const isSlow = seen.failingSince !== undefined || [...seen.openCalls].some((place) => place < slow);
  return isSlow ? comeBackSeconds.later : comeBackSeconds.soon;
}

/** Takes one of an endpoint's places for a call; undefined when others were quicker. */
export async function openCall(webhookId: string): Promise<OpenCall | undefined> {
  const at = now();
  const place = `${new Date(at.getTime() + leaseMs).toISOString()}#${randomUUID()}`;
  const taken = await updateItem(OpenCallsRecord, {
    key: keys.openCalls(webhookId),
    update: `${touch} ADD openCalls :places`,
    condition:
      "attribute_not_exists(openCalls) OR size(openCalls) < :maxFailing OR " +
      "(attribute_not_exists(failingSince) AND size(openCalls) < :max)",
    values: {
      ...touchValues(at),
      ":places": new Set([place]),
      ":max": maxOpenCalls,
      ":maxFailing": maxOpenCallsFailing,
    },
  });
  return taken.applied ? { webhookId, place } : undefined;
}

function mayCall({ openCalls, failingSince }: OpenCallsRecord, lane: Lane, at: Date): boolean {
  if (failingSince !== undefined && lane === "first") return false;
  const max = failingSince === undefined ? maxOpenCalls : maxOpenCallsFailing;
  return [...openCalls].filter((place) => !hasLapsed(place, at)).length < max;
}

function hasLapsed(place: string, at: Date): boolean {
  return place < at.toISOString();
}

/** Frees the places of dispatchers that ended without closing their calls. */
async function forgetLapsed(webhookId: string, { openCalls }: OpenCallsRecord, at: Date): Promise<void> {
  const lapsed = [...openCalls].filter((place) => hasLapsed(place, at));
  if (lapsed.length === 0) return;
  await updateItem(OpenCallsRecord, {
    key: keys.openCalls(webhookId),
    update: `${touch} DELETE openCalls :places`,
    values: { ...touchValues(at), ":places": new Set(lapsed) },
  });
}

/**
 * Gives a call's place back and notes what came of the call. All that is known of an endpoint's health is in the
 * two writes that a call needs in any case.
 * @returns since when the endpoint has been failing, if it has
 */
export async function closeCall(
  { webhookId, place }: OpenCall,
  outcome: "failed" | "succeeded",
): Promise<Date | undefined> {
  const at = now();
  const note =
    outcome === "failed"
      ? { update: ", failingSince = if_not_exists(failingSince, :at)", values: { ":at": at.toISOString() } }
      : { update: " REMOVE failingSince", values: {} };
  const closed = await updateItem(OpenCallsRecord, {
    key: keys.openCalls(webhookId),
    update: `${touch}${note.update} DELETE openCalls :places`,
    values: { ...touchValues(at), ...note.values, ":places": new Set([place]) },
  });
  if (!closed.applied || closed.item.failingSince === undefined) return undefined;
  return new Date(closed.item.failingSince);
}

/** Forgets that an endpoint has been failing, so that it is called like a new one. */
export async function forgetFailures(webhookId: string): Promise<void> {
  await updateItem(OpenCallsRecord, {
    key: keys.openCalls(webhookId),
    update: `${touch} REMOVE failingSince`,
    values: touchValues(now()),
  });
}

/** Begins every update, for each may be the one that creates the item. */
const touch = "SET entity = :entity, expiresAt = :expiresAt";

function touchValues(at: Date): Record<string, unknown> {
  return { ":entity": "openCalls", ":expiresAt": epochSeconds(new Date(at.getTime() + retentionMs)) };
}
