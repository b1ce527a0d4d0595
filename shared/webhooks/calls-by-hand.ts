import { ApiError } from "../contract/errors.ts";
import type { WebhookDelivery } from "../contract/webhooks.ts";
import { minuteMs, now } from "../platform/clock.ts";
import { countTry } from "../platform/http/rate-limit.ts";
import { newId } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { putItem } from "../platform/table/table.ts";
import { newDelivery, presentDelivery, putDelivery, repeatNow } from "./delivery-record.ts";
import { readWebhook, type WebhookRecord } from "./record.ts";
import { attemptJob } from "./webhook-job.ts";

/** Calls that a customer may ask for by hand; they cost nothing, and a webhook may be somebody else's. */
const handLimit = { what: "webhook-calls", max: 300, windowMs: minuteMs };

/**
 * Queues another attempt of a delivery, also of one that succeeded. If it fails, the schedule goes on.
 * @throws ApiError NOT_FOUND; CONFLICT when the webhook is disabled, or an attempt is under way or queued;
 *   RATE_LIMITED
 */
export async function retryWebhookDelivery(
  organizationId: string,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  await readCallableWebhook(organizationId, webhookId);
  const delivery = await repeatNow(webhookId, deliveryId);
  if (delivery === undefined) throw new ApiError("NOT_FOUND");
  if (delivery === "busy") {
    throw new ApiError("CONFLICT", { message: "An attempt of this delivery is under way or queued." });
  }
  const attempt = delivery.attempts + 1;
  await enqueue(attemptJob({ organizationId, webhookId, deliveryId, attempt, lane: "retry" }));
  return presentDelivery(delivery);
}

/**
 * Sends a `ping` to one webhook, whatever it subscribes to.
 * @throws ApiError NOT_FOUND; CONFLICT when the webhook is disabled; RATE_LIMITED
 */
export async function testWebhook(organizationId: string, webhookId: string): Promise<WebhookDelivery> {
  const webhook = await readCallableWebhook(organizationId, webhookId);
  const eventId = newId("evt");
  const delivery = newDelivery(webhook, eventId, {
    event: "ping",
    timestamp: now().toISOString(),
    data: { id: eventId },
  });
  await putItem(putDelivery(webhookId, delivery));
  const deliveryId = delivery.id;
  await enqueue(attemptJob({ organizationId, webhookId, deliveryId, attempt: 1, lane: "first" }));
  return presentDelivery(delivery);
}

async function readCallableWebhook(organizationId: string, webhookId: string): Promise<WebhookRecord> {
  const webhook = await readWebhook(organizationId, webhookId);
  if (webhook.disabledAt !== undefined) {
    throw new ApiError("CONFLICT", { message: "The endpoint is disabled: enable it first." });
  }
  await countTry(handLimit, organizationId);
  return webhook;
}
