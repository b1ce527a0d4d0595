import { randomUUID } from "node:crypto";

import * as z from "zod";

import { DeliveryState, WebhookPayload, type WebhookDelivery } from "../contract/webhooks.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem, type Put } from "../platform/table/table.ts";
import type { WebhookRecord } from "./webhooks.ts";

/** How long a delivery can be seen and sent again. */
const retentionMs = 30 * dayMs;

/**
 * Longer than a dispatcher can run, so that a claim lapses only when its dispatcher is surely gone; shorter
 * than the queue hides a job, so that it has lapsed when the job comes again.
 */
const claimLeaseMs = minuteMs;

/** A repeat that was asked for by hand and has not begun after this long may be asked for again. */
const repeatGraceMs = 5 * minuteMs;

/** What is kept of an event for one endpoint. */
export const DeliveryRecord = z.object({
  entity: z.literal("webhookDelivery"),
  id: z.string(),
  eventId: z.string(),
  payload: WebhookPayload,
  state: DeliveryState,
  attempts: z.int().nonnegative(),
  createdAt: z.string(),
  /** While pending: when the next attempt is, or was, due. */
  nextAttemptAt: z.string().optional(),
  lastAttemptAt: z.string().optional(),
  lastStatus: z.int().optional(),
  lastError: z.string().optional(),
  /** Both are there while a dispatcher makes an attempt. */
  claimToken: z.string().optional(),
  leaseUntil: z.string().optional(),
  expiresAt: z.int(),
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;

const disabledError = "the endpoint is disabled";

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
    id: eventId.replace(/^evt_/, "dlv_"),
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
  const claimToken = randomUUID();
  const claimed = await updateItem(DeliveryRecord, {
    key: keys.webhookDelivery(job.webhookId, job.deliveryId),
    update:
      "SET attempts = attempts + :one, lastAttemptAt = :at, leaseUntil = :leaseUntil, claimToken = :claimToken",
    condition:
      "#state = :pending AND " +
      "((attempts = :before AND attribute_not_exists(leaseUntil)) OR leaseUntil < :at)",
    names: { "#state": "state" },
    values: {
      ":pending": "pending",
      ":before": job.attempt - 1,
      ":one": 1,
      ":at": at.toISOString(),
      ":leaseUntil": new Date(at.getTime() + claimLeaseMs).toISOString(),
      ":claimToken": claimToken,
    },
  });
  if (claimed.applied) return claimed.item;
  if (claimed.found === undefined) return undefined;
  const found = DeliveryRecord.parse(claimed.found);
  // The SDK repeats a claim whose answer was lost, and then meets its own.
  if (found.claimToken === claimToken) return found;
  if (found.leaseUntil !== undefined) throw new Error("another dispatcher makes this attempt");
  return undefined;
}

/** Gives an attempt back that was taken and not made. */
export async function releaseAttempt(webhookId: string, claimed: DeliveryRecord): Promise<void> {
  await updateItem(DeliveryRecord, {
    key: keys.webhookDelivery(webhookId, claimed.id),
    update: "SET attempts = attempts - :one REMOVE leaseUntil, claimToken",
    condition: "claimToken = :claim",
    values: { ":one": 1, ":claim": claimed.claimToken },
  });
}

/** What an attempt left behind. */
export type Settlement = {
  readonly lastStatus?: number | undefined;
  readonly lastError?: string | undefined;
} & (
  | { readonly state: "failed" | "succeeded" }
  | { readonly state: "pending"; readonly nextAttemptAt: Date }
);

/** Notes what came of an attempt, unless its claim has lapsed and another one has begun. */
export async function recordOutcome(
  webhookId: string,
  claimed: DeliveryRecord,
  settlement: Settlement,
): Promise<void> {
  const { state, lastStatus, lastError } = settlement;
  const fields: Record<string, string | number | undefined> = {
    state,
    lastStatus,
    lastError,
    nextAttemptAt: settlement.state === "pending" ? settlement.nextAttemptAt.toISOString() : undefined,
    claimToken: undefined,
    leaseUntil: undefined,
  };
  const names = Object.keys(fields);
  const set = names.filter((name) => fields[name] !== undefined);
  const removed = names.filter((name) => fields[name] === undefined);
  await updateItem(DeliveryRecord, {
    key: keys.webhookDelivery(webhookId, claimed.id),
    update:
      `SET ${set.map((name) => `#${name} = :${name}`).join(", ")} ` +
      `REMOVE ${removed.map((name) => `#${name}`).join(", ")}`,
    condition: "#claimToken = :claim",
    names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    values: {
      ...Object.fromEntries(set.map((name) => [`:${name}`, fields[name]])),
      ":claim": claimed.claimToken,
    },
  });
}

/** Ends a delivery whose endpoint has been disabled, unless an attempt is under way. */
export async function giveUp(webhookId: string, deliveryId: string): Promise<void> {
  await updateItem(DeliveryRecord, {
    key: keys.webhookDelivery(webhookId, deliveryId),
    update: "SET #state = :failed, lastError = :lastError REMOVE nextAttemptAt, leaseUntil, claimToken",
    condition: "#state = :pending AND (attribute_not_exists(leaseUntil) OR leaseUntil < :at)",
    names: { "#state": "state" },
    values: {
      ":pending": "pending",
      ":failed": "failed",
      ":lastError": disabledError,
      ":at": now().toISOString(),
    },
  });
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
  const repeated = await updateItem(DeliveryRecord, {
    key: keys.webhookDelivery(webhookId, deliveryId),
    update: "SET #state = :pending, nextAttemptAt = :at REMOVE leaseUntil, claimToken",
    condition:
      "attribute_exists(pk) AND (attribute_not_exists(leaseUntil) OR leaseUntil < :at) AND " +
      "(#state <> :pending OR nextAttemptAt > :at OR nextAttemptAt < :stale)",
    names: { "#state": "state" },
    values: {
      ":pending": "pending",
      ":at": at.toISOString(),
      ":stale": new Date(at.getTime() - repeatGraceMs).toISOString(),
    },
  });
  if (repeated.applied) return repeated.item;
  if (repeated.found === undefined) return undefined;
  const found = DeliveryRecord.parse(repeated.found);
  // The SDK repeats an update whose answer was lost, and then meets its own; a job too many is refused by the claim.
  const isOwn = found.nextAttemptAt === at.toISOString() && found.leaseUntil === undefined;
  return isOwn ? found : "busy";
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
    nextAttemptAt: record.nextAttemptAt,
  };
}
