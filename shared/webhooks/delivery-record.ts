import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { WebhookDeliveryState, WebhookPayload, type WebhookDelivery } from "../api/contract/webhooks.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { field } from "../platform/table/expressions.ts";
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
import { findItem } from "../platform/table/read.ts";
import { changesOfPatch, insertOf, type Put, updateItem, updateOf } from "../platform/table/write.ts";
import { isCallbacks } from "./callbacks.ts";
import type { WebhookRecord } from "./record.ts";

/** The retention of a delivery, during which it can be read and sent again. */
const retentionMs = 30 * dayMs;

/**
 * Longer than a dispatcher can run, so that its lease lapses only after it has ended. Shorter than the queue hides a job,
 * so that the lease has lapsed when the queue delivers the job again.
 */
const attemptLeaseMs = minuteMs;

/** A manual redelivery that has not begun after this time may be requested again. */
const repeatGraceMs = 5 * minuteMs;

/** The delivery of an event to one webhook. */
export const DeliveryRecord = z.object({
  entity: z.literal("webhookDelivery"),
  id: z.string(),
  eventId: z.string(),
  /** The URL of a callback. The calls to a webhook go to its present URL. */
  url: z.optional(z.string()),
  payload: WebhookPayload,
  state: WebhookDeliveryState,
  attempts: z.int().check(z.nonnegative()),
  createdAt: z.string(),
  /** While pending: when the next attempt is, or was, due. */
  nextAttemptAt: z.optional(z.string()),
  lastAttemptAt: z.optional(z.string()),
  lastStatus: z.optional(z.int()),
  lastError: z.optional(z.string()),
  /** The time until the endpoint responded, or the call failed. */
  lastDurationMs: z.optional(z.int().check(z.nonnegative())),
  /** Identifies the last manual redelivery among others of the same moment. */
  repeatToken: z.optional(z.string()),
  /** When that was requested. Until its attempt begins, this is also when the attempt is due. */
  repeatedAt: z.optional(z.string()),
  /** While a dispatcher makes an attempt. */
  ...leaseFields,
  expiresAt: z.int(),
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;

const disabledError = "the endpoint is disabled";

/** Returns the id of an event's delivery. An endpoint has one for each event. */
export function deliveryIdOf(eventId: string): string {
  return `dlv_${eventId.slice(eventId.indexOf("_") + 1)}`;
}

/** Returns a new delivery. Its id follows from its event, so that a repeated fan-out creates only one. */
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
    url: isCallbacks(webhook.id) ? webhook.url : undefined,
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
export function withFirstAttempt(delivery: DeliveryRecord): DeliveryRecord & Lease {
  const at = now();
  return { ...delivery, attempts: 1, lastAttemptAt: at.toISOString(), ...newLease(at, attemptLeaseMs) };
}

/** The write that stores a new delivery. It fails when the delivery exists. */
export function putDelivery(webhookId: string, delivery: DeliveryRecord): Put {
  return insertOf(keys.webhookDelivery(webhookId, delivery.id), delivery);
}

/**
 * Acquires the lease of an attempt for one dispatcher. After its dispatcher has ended without an outcome, another can
 * follow.
 * @returns undefined when the attempt was made already, or must not be made
 * @throws Error while another dispatcher makes an attempt, so that the job returns in case that dispatcher dies
 */
export async function acquireAttempt(job: {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}): Promise<DeliveryRecord | undefined> {
  const at = now();
  const lease = newLease(at, attemptLeaseMs);
  const acquired = await updateItem(
    DeliveryRecord,
    acquireLease(keys.webhookDelivery(job.webhookId, job.deliveryId), lease, at, {
      set: { lastAttemptAt: at.toISOString() },
      add: { attempts: 1 },
      requires: {
        is: { state: "pending" },
        anyOf: [{ is: { attempts: job.attempt - 1 } }, { present: ["leaseUntil"] }],
      },
    }),
    { isOwn: hasLease(lease) },
  );
  if (acquired.applied) return acquired.item;
  if (acquired.found === undefined) return undefined;
  if (DeliveryRecord.parse(acquired.found).leaseUntil === undefined) return undefined;
  throw new Error("another dispatcher makes this attempt");
}

/** Returns a delivery; undefined when there is none. */
export async function findDelivery(
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord | undefined> {
  return findItem(DeliveryRecord, keys.webhookDelivery(webhookId, deliveryId), { consistent: true });
}

/** Releases the lease of an attempt that was not made. */
export async function releaseAttempt(webhookId: string, acquired: DeliveryRecord): Promise<void> {
  await updateItem(
    DeliveryRecord,
    releaseLease(keys.webhookDelivery(webhookId, acquired.id), acquired, { add: { attempts: -1 } }),
  );
}

/** The outcome of an attempt. */
export type AttemptOutcome = {
  readonly lastStatus?: number | undefined;
  readonly lastError?: string | undefined;
  readonly lastDurationMs: number;
} & (
  | { readonly state: "failed" | "succeeded" }
  | { readonly state: "pending"; readonly nextAttemptAt: Date }
);

/** Records the outcome of an attempt, unless its lease has lapsed and another attempt has begun. */
export async function recordOutcome(
  webhookId: string,
  acquired: DeliveryRecord,
  outcome: AttemptOutcome,
): Promise<void> {
  const { state, lastStatus = null, lastError = null, lastDurationMs } = outcome;
  const nextAttemptAt = outcome.state === "pending" ? outcome.nextAttemptAt.toISOString() : null;
  await updateItem(
    DeliveryRecord,
    releaseLease(
      keys.webhookDelivery(webhookId, acquired.id),
      acquired,
      changesOfPatch<"webhookDelivery">({ state, lastStatus, lastError, lastDurationMs, nextAttemptAt }),
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
 * Makes the next attempt of a delivery due now, whatever the outcome of the previous ones.
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
        // The clocks of concurrent requests differ, so a redelivery that one has just made due may be in another's future.
        // It is recognized by its equal times. A scheduled attempt, which may be brought forward, has different ones.
        anyOf: [
          { isNot: { state: "pending" } },
          { below: { nextAttemptAt: new Date(at.getTime() - repeatGraceMs).toISOString() } },
          {
            above: { nextAttemptAt: at.toISOString() },
            ifPresent: { isNot: { repeatedAt: field("nextAttemptAt") } },
          },
        ],
      }),
    ),
    { isOwn: (found) => found.repeatToken === repeatToken },
  );
  if (repeated.applied) return repeated.item;
  return repeated.found === undefined ? undefined : "busy";
}

export function toApiDelivery(record: DeliveryRecord): WebhookDelivery {
  return {
    id: record.id,
    eventId: record.eventId,
    url: record.url,
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
