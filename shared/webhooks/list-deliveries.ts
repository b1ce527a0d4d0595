import type { Page } from "../api/contract/primitives.ts";
import type { DeliveriesQuery, WebhookDelivery } from "../api/contract/webhooks.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { epochSeconds, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { DeliveryRecord, toApiDelivery } from "./delivery-record.ts";
import { readWebhook } from "./record.ts";

/**
 * Returns a page of the deliveries of a webhook, or of callbacks, within their retention, those of the newest messages first.
 * @throws ApiError NOT_FOUND
 */
export async function listWebhookDeliveries(
  viewer: Viewer,
  webhookId: string,
  query: DeliveriesQuery,
): Promise<Page<WebhookDelivery>> {
  const { id } = await readWebhook(viewer, webhookId);
  const at = epochSeconds(now());
  const page = await readWantedPage(
    DeliveryRecord,
    { pk: keys.webhookDelivery(id, "").pk, newestFirst: true, consistent: true },
    query,
    // DynamoDB deletes expired items days later.
    ({ state, expiresAt }) => expiresAt > at && (query.state === undefined || state === query.state),
  );
  return { rows: page.rows.map(toApiDelivery), meta: page.meta };
}
