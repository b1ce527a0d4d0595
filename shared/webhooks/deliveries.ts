import * as z from "zod";

import { ApiError } from "../contract/errors.ts";
import type { Page } from "../contract/primitives.ts";
import type { DeliveriesQuery, WebhookDelivery } from "../contract/webhooks.ts";
import { epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { countTry } from "../platform/http/rate-limit.ts";
import { newId } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { putItem } from "../platform/table/table.ts";
import { DeliveryRecord, newDelivery, presentDelivery, putDelivery, repeatNow } from "./delivery-record.ts";
import { readWebhook, type WebhookRecord } from "./record.ts";
import { attemptJob } from "./webhook-job.ts";

/** Calls that a customer may ask for by hand; they cost nothing, and a webhook may be somebody else's. */
const handLimit = { what: "webhook-calls", max: 300, windowMs: minuteMs };

/**
 * A page of a webhook's deliveries, those of the newest messages first, as long as they are kept.
 * @throws ApiError NOT_FOUND
 */
export async function listWebhookDeliveries(
  organizationId: string,
  webhookId: string,
  query: DeliveriesQuery,
): Promise<Page<WebhookDelivery>> {
  await readWebhook(organizationId, webhookId);
  const at = epochSeconds(now());
  const page = await readWantedPage(
    DeliveryRecord.extend({ sk: z.string() }),
    { pk: keys.webhookDelivery(webhookId, "").pk, newestFirst: true, consistent: true },
    query,
    // DynamoDB deletes expired items days later.
    ({ state, expiresAt }) => expiresAt > at && (query.state === undefined || state === query.state),
  );
  return { rows: page.rows.map(presentDelivery), meta: page.meta };
}

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
