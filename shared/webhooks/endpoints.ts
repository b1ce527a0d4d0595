import * as z from "zod";

import { freePlace, takePlaces } from "../accounts/organization.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import {
  EventName,
  type CreatedWebhook,
  type CreateWebhookRequest,
  type Webhook,
} from "../contract/webhooks.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/keys.ts";
import { pageOf } from "../platform/page.ts";
import { queryItems, readItem, transact } from "../platform/table.ts";
import { newWebhookSecret } from "./signature.ts";
import { checkWebhookUrl } from "./target.ts";

const WebhookRecord = z.object({
  entity: z.literal("webhook"),
  id: z.string(),
  organizationId: z.string(),
  url: z.string(),
  events: z.array(EventName),
  secret: z.string(),
  createdAt: z.string(),
});
export type WebhookRecord = z.infer<typeof WebhookRecord>;

const maxWebhooks = 100;

/**
 * Registers an endpoint. Its signing secret is in the answer and never again.
 * @throws ApiError VALIDATION_ERROR, CONFLICT when the organisation has as many endpoints as it may have
 */
export async function createWebhook(
  organizationId: string,
  request: CreateWebhookRequest,
): Promise<CreatedWebhook> {
  checkWebhookUrl(request.url);
  const record: WebhookRecord = {
    entity: "webhook",
    id: newId("whk"),
    organizationId,
    url: request.url,
    events: request.events,
    secret: newWebhookSecret(),
    createdAt: now().toISOString(),
  };
  const created = await transact([
    takePlaces(organizationId, "webhookCount", maxWebhooks),
    {
      put: { ...keys.webhook(organizationId, record.id), ...record },
      condition: "attribute_not_exists(pk)",
    },
  ]);
  if (!created.committed) {
    throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxWebhooks} webhooks.` });
  }
  return { ...presentWebhook(record), secret: record.secret };
}

/** The organisation's endpoints, newest first, without their secrets. */
export async function listWebhooks(organizationId: string, query: PageQuery): Promise<Page<Webhook>> {
  return pageOf((await readWebhooks(organizationId)).map(presentWebhook), query);
}

/**
 * Removes an endpoint.
 * @throws ApiError NOT_FOUND, also for an endpoint of another organisation
 */
export async function deleteWebhook(
  organizationId: string,
  webhookId: string,
): Promise<{ id: string; deleted: true }> {
  const deleted = await transact([
    { delete: keys.webhook(organizationId, webhookId), condition: "attribute_exists(pk)" },
    freePlace(organizationId, "webhookCount"),
  ]);
  if (!deleted.committed) throw new ApiError("NOT_FOUND");
  return { id: webhookId, deleted: true };
}

/** All endpoints of an organisation, with their secrets. */
export async function readWebhooks(organizationId: string): Promise<WebhookRecord[]> {
  const { pk } = keys.organization(organizationId);
  return queryItems(WebhookRecord, {
    pk,
    from: "WEBHOOK#",
    to: "WEBHOOK#~",
    newestFirst: true,
    limit: maxWebhooks,
    consistent: true,
  });
}

/** One endpoint with its secret, or undefined when it has been removed. */
export async function readWebhook(
  organizationId: string,
  webhookId: string,
): Promise<WebhookRecord | undefined> {
  return readItem(WebhookRecord, keys.webhook(organizationId, webhookId), { consistent: true });
}

function presentWebhook({ id, url, events, createdAt }: WebhookRecord): Webhook {
  return { id, url, events, createdAt };
}
