import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { DeliveryState, WebhookPayload, type WebhookDelivery } from "../contract/webhooks.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import {
  acquireLease,
  hasLease,
  leaseFieldNames,
  leaseFields,
  newLease,
  releaseLease,
  whileFree,
  type Lease,
} from "../platform/table/lease.ts";
import { findItem, updateItem, type Put } from "../platform/table/table.ts";
import { changesOfPatch, updateOf } from "../platform/table/update.ts";
import type { WebhookRecord } from "./record.ts";

/** How long a delivery can be seen and sent again. */
const retentionMs = 30 * dayMs;

/**
 * Longer than a dispatcher can run, so that a claim lapses only when its dispatcher is surely gone; shorter
 * than the queue hides a job, so that it has lapsed when the job comes again.
 */
const attemptLeaseMs = minuteMs;

/** A repeat that was asked for by hand and has not begun after this long may be asked for again. */
const repeatGraceMs = 5 * minuteMs;

/** What is kept of an event for one webhook. */
export const DeliveryRecord = z.object({
  entity: z.literal("webhookDelivery"),
  id: z.string(),
  eventId: z.string(),
  payload: WebhookPayload,
  state: DeliveryState,
  attempts: z.int().check(z.nonnegative()),
  createdAt: z.string(),
  /** While pending: when the next attempt is, or was, due. */
  nextAttemptAt: z.optional(z.string()),
  lastAttemptAt: z.optional(z.string()),
  lastStatus: z.optional(z.int()),
  lastError: z.optional(z.string()),
  /** How long the endpoint took to answer, or the call to fail. */
  lastDurationMs: z.optional(z.int().check(z.nonnegative())),
  /** Of the last repeat that was asked for by hand: tells it from others of the same moment. */
  repeatToken: z.optional(z.string()),
  /** When that was. As long as the repeat waits for its attempt, it is the time that the attempt is due as well. */
  repeatedAt: z.optional(z.string()),
  /** While a dispatcher makes an attempt. */
  ...leaseFields,
  expiresAt: z.int(),
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;

const disabledError = "the endpoint is disabled";

/** The id of the delivery of an event, which an endpoint has one of. */
export function deliveryIdOf(eventId: string): string {
  return `dlv_${eventId.slice(eventId.indexOf("_") + 1)}`;
}

/** A delivery whose id follows from its event, so that an event that is handed out twice makes one. */
export function newDelivery(
  webhook: WebhookRecord,
  eventId: string,
  payload: WebhookPayload,
): DeliveryRecord {
  const at = now();
  const isDisabled = webhook.disabledAt !== undefined;
  return {
    entity: "webhookDelivery",
    id: deliveryIdOf(eventId),
    eventId,
    payload,
    attempts: 0,
    createdAt: at.toISOString(),
    ...(isDisabled
      ? { state: "failed", lastError: disabledError }
      : { state: "pending", nextAttemptAt: at.toISOString() }),
    expiresAt: epochSeconds(new Date(at.getTime() + retentionMs)),
  };
}

/** A new delivery whose first attempt is made by the dispatcher that stores it. */
export function claimedAtOnce(delivery: DeliveryRecord): DeliveryRecord & Lease {
  const at = now();
  return { ...delivery, attempts: 1, lastAttemptAt: at.toISOString(), ...newLease(at, attemptLeaseMs) };
}

/** The write that stores a new delivery. It is refused when the delivery is there. */
export function putDelivery(webhookId: string, delivery: DeliveryRecord): Put {
  return {
    put: { ...keys.webhookDelivery(webhookId, delivery.id), ...delivery },
    condition: "attribute_not_exists(pk)",
  };
}

/**
 * Takes an attempt for one dispatcher. An attempt is taken once; one whose dispatcher is gone can be followed
 * by another.
 * @returns undefined when the attempt was made, or is not to be made any more
 * @throws Error while another dispatcher makes an attempt, for the job must come again in case that one dies
 */
export async function claimAttempt(job: {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}): Promise<DeliveryRecord | undefined> {
  const at = now();
  const lease = newLease(at, attemptLeaseMs);
  const claimed = await updateItem(
    DeliveryRecord,
    acquireLease(keys.webhookDelivery(job.webhookId, job.deliveryId), lease, at, {
      set: { lastAttemptAt: at.toISOString() },
      add: { attempts: 1 },
      requires: {
        is: { state: "pending" },
        where: "#attempts = :before OR attribute_exists(leaseUntil)",
        values: { ":before": job.attempt - 1 },
      },
    }),
    { isOwn: hasLease(lease) },
  );
  if (claimed.applied) return claimed.item;
  if (claimed.found === undefined) return undefined;
  if (DeliveryRecord.parse(claimed.found).leaseUntil === undefined) return undefined;
  throw new Error("another dispatcher makes this attempt");
}

/** A delivery as it is now; undefined when there is none. */
export async function findDelivery(
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord | undefined> {
  return findItem(DeliveryRecord, keys.webhookDelivery(webhookId, deliveryId), { consistent: true });
}

/** Gives an attempt back that was taken and not made. */
export async function releaseAttempt(webhookId: string, claimed: DeliveryRecord): Promise<void> {
  await updateItem(
    DeliveryRecord,
    releaseLease(keys.webhookDelivery(webhookId, claimed.id), claimed, { add: { attempts: -1 } }),
  );
}

/** What came of an attempt. */
export type AttemptOutcome = {
  readonly lastStatus?: number | undefined;
  readonly lastError?: string | undefined;
  readonly lastDurationMs: number;
} & (
  | { readonly state: "failed" | "succeeded" }
  | { readonly state: "pending"; readonly nextAttemptAt: Date }
);

/** Notes what came of an attempt, unless its claim has lapsed and another one has begun. */
export async function recordOutcome(
  webhookId: string,
  claimed: DeliveryRecord,
  outcome: AttemptOutcome,
): Promise<void> {
  const { state, lastStatus = null, lastError = null, lastDurationMs } = outcome;
  const nextAttemptAt = outcome.state === "pending" ? outcome.nextAttemptAt.toISOString() : null;
  await updateItem(
    DeliveryRecord,
    releaseLease(
      keys.webhookDelivery(webhookId, claimed.id),
      claimed,
      changesOfPatch({ state, lastStatus, lastError, lastDurationMs, nextAttemptAt }),
    ),
  );
}

/** Ends a delivery whose webhook has been disabled, unless an attempt is under way. */
export async function giveUp(webhookId: string, deliveryId: string): Promise<void> {
  await updateItem(
    DeliveryRecord,
    updateOf(
      keys.webhookDelivery(webhookId, deliveryId),
      {
        set: { state: "failed", lastError: disabledError },
        remove: ["nextAttemptAt", ...leaseFieldNames],
      },
      whileFree(now(), { is: { state: "pending" } }),
    ),
  );
}

/**
 * Lets a delivery have its next attempt now, whatever came of those before.
 * @returns the delivery; `busy` while an attempt is under way or waits on a queue; undefined when there is none
 */
export async function repeatNow(
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord | "busy" | undefined> {
  const at = now();
  const repeatToken = randomUUID();
  const repeated = await updateItem(
    DeliveryRecord,
    updateOf(
      keys.webhookDelivery(webhookId, deliveryId),
      {
        set: {
          state: "pending",
          nextAttemptAt: at.toISOString(),
          repeatToken,
          repeatedAt: at.toISOString(),
        },
        remove: leaseFieldNames,
      },
      whileFree(at, {
        present: ["pk"],
        // Requests that ask side by side need not arrive in the order of their clocks: what one of them has just made due
        // may lie ahead of another's present. An attempt of the schedule, which may be brought forward, has another time.
        where:
          "#state <> :state OR #nextAttemptAt < :stale OR (#nextAttemptAt > :at AND " +
          "(attribute_not_exists(#repeatedAt) OR #repeatedAt <> #nextAttemptAt))",
        values: {
          ":at": at.toISOString(),
          ":stale": new Date(at.getTime() - repeatGraceMs).toISOString(),
        },
      }),
    ),
    { isOwn: (found) => found.repeatToken === repeatToken },
  );
  if (repeated.applied) return repeated.item;
  return repeated.found === undefined ? undefined : "busy";
}

export function presentDelivery(record: DeliveryRecord): WebhookDelivery {
  return {
    id: record.id,
    eventId: record.eventId,
    payload: record.payload,
    state: record.state,
    attempts: record.attempts,
    createdAt: record.createdAt,
    lastAttemptAt: record.lastAttemptAt,
    lastStatus: record.lastStatus,
    lastError: record.lastError,
    lastDurationMs: record.lastDurationMs,
    nextAttemptAt: record.nextAttemptAt,
  };
}
