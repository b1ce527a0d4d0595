import { setTimeout } from "node:timers/promises";

import { ApiError, orNotFound } from "../api/contract/errors.ts";
import type { WebhookDelivery } from "../api/contract/webhooks.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { consume } from "../platform/limits/sliding-window.ts";
import { putItem } from "../platform/table/write.ts";
import {
  findDelivery,
  newDelivery,
  toApiDelivery,
  putDelivery,
  repeatNow,
  type DeliveryRecord,
} from "./delivery-record.ts";
import { readWebhook, type WebhookRecord } from "./record.ts";
import { attemptJob } from "./webhook-job.ts";

/** The rate limit of manual calls: they are free, and a webhook's URL may belong to a third party. */
const handLimit = { name: "webhook-calls", max: 300, windowMs: minuteMs };

/** The rate limit of an organization's webhook tests: each occupies a function while it waits. */
const testLimit = { name: "webhook-tests", max: 30, windowMs: minuteMs };

/** Longer than a call may take, and shorter than the 15 seconds of an operation's function. */
const maxTestWaitMs = 12 * secondMs;

/** The pause before the first read of a delivery. Each further pause is twice as long, up to the longest. */
const firstPauseMs = 50;
const maxPauseMs = 800;

/**
 * Queues another attempt of a delivery, also of one that succeeded. If it fails, the schedule continues.
 * @throws ApiError NOT_FOUND; CONFLICT when the webhook is disabled, or an attempt is under way or queued;
 *   RATE_LIMITED
 */
export async function retryWebhookDelivery(
  viewer: Viewer,
  endpoint: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { organizationId, id: webhookId } = await readCallableWebhook(viewer, endpoint);
  const delivery = orNotFound(await repeatNow(webhookId, deliveryId));
  if (delivery === "busy") {
    throw new ApiError("CONFLICT", { message: "An attempt of this delivery is under way or queued." });
  }
  const attempt = delivery.attempts + 1;
  await enqueue(attemptJob({ organizationId, webhookId, deliveryId, attempt, lane: "retry" }));
  return toApiDelivery(delivery);
}

/**
 * Sends a `ping` to one webhook, whatever it subscribes to, and waits for the endpoint's response. The dispatcher makes
 * the call, because only it may read the signing secrets.
 * @returns the delivery with the outcome of its first attempt; without an outcome when there is none in time
 * @throws ApiError NOT_FOUND; CONFLICT when the webhook is disabled; RATE_LIMITED
 */
export async function testWebhook(viewer: Viewer, webhookId: string): Promise<WebhookDelivery> {
  const webhook = await readCallableWebhook(viewer, webhookId);
  const { organizationId } = webhook;
  await consume(testLimit, organizationId);
  const eventId = newId("evt");
  const delivery = newDelivery(webhook, eventId, {
    event: "ping",
    timestamp: now().toISOString(),
    data: { id: eventId },
  });
  await putItem(putDelivery(webhookId, delivery));
  const deliveryId = delivery.id;
  // A failing webhook has only its retries attempted without delay.
  await enqueue(attemptJob({ organizationId, webhookId, deliveryId, attempt: 1, lane: "retry" }));
  return toApiDelivery(await withOutcome(webhookId, delivery));
}

/** Reads a delivery until its first attempt has an outcome, or the time to wait is over. */
async function withOutcome(webhookId: string, delivery: DeliveryRecord): Promise<DeliveryRecord> {
  let pauseMs = firstPauseMs;
  let seen = delivery;
  for (let waitedMs = 0; waitedMs + pauseMs <= maxTestWaitMs; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    await setTimeout(pauseMs);
    waitedMs += pauseMs;
    seen = (await findDelivery(webhookId, delivery.id)) ?? seen;
    if (seen.state !== "pending" || seen.lastDurationMs !== undefined) break;
  }
  return seen;
}

async function readCallableWebhook(viewer: Viewer, webhookId: string): Promise<WebhookRecord> {
  const webhook = await readWebhook(viewer, webhookId);
  if (webhook.disabledAt !== undefined) {
    throw new ApiError("CONFLICT", { message: "The endpoint is disabled: enable it first." });
  }
  await consume(handLimit, viewer.organizationId);
  return webhook;
}
