import * as z from "zod";

import { releaseQuota, takeQuota } from "../accounts/organization-record.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import {
  DisabledReason,
  EventName,
  type CreatedWebhook,
  type CreateWebhookRequest,
  type UpdateWebhookRequest,
  type Webhook,
} from "../contract/webhooks.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { queryItems, readItem, transact, updateItem } from "../platform/table/table.ts";
import { forgetFailures } from "./open-calls.ts";
import { newWebhookSecret, secretOverlapMs } from "./signature.ts";
import { checkWebhookUrl } from "./target.ts";

const WebhookRecord = z.object({
  entity: z.literal("webhook"),
  id: z.string(),
  organizationId: z.string(),
  url: z.string(),
  events: z.array(EventName),
  secret: z.string(),
  /** The secret before the last rotation, which signs too until its time is over. */
  previousSecret: z.string().optional(),
  previousSecretUntil: z.string().optional(),
  /** Both are there exactly while the endpoint is disabled. */
  disabledAt: z.string().optional(),
  disabledReason: DisabledReason.optional(),
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
    takeQuota(organizationId, "webhookCount", maxWebhooks),
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
 * One endpoint, without its secret.
 * @throws ApiError NOT_FOUND, also for an endpoint of another organisation
 */
export async function getWebhook(organizationId: string, webhookId: string): Promise<Webhook> {
  return presentWebhook(await readWebhook(organizationId, webhookId));
}

/**
 * Changes what is given of an endpoint and leaves the rest. An endpoint that is enabled, or gets another URL,
 * begins anew: that it failed before counts no more.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND
 */
export async function updateWebhook(
  organizationId: string,
  webhookId: string,
  { url, events, enabled }: UpdateWebhookRequest,
): Promise<Webhook> {
  if (url !== undefined) checkWebhookUrl(url);
  await readWebhook(organizationId, webhookId);
  if (enabled === true || url !== undefined) await forgetFailures(webhookId);
  const set = [
    "entity = :entity",
    ...(url === undefined ? [] : ["#url = :url"]),
    ...(events === undefined ? [] : ["events = :events"]),
    // An endpoint that is disabled already keeps the reason that it has.
    ...(enabled === false
      ? [
          "disabledAt = if_not_exists(disabledAt, :at)",
          "disabledReason = if_not_exists(disabledReason, :reason)",
        ]
      : []),
  ];
  const updated = await updateItem(WebhookRecord, {
    key: keys.webhook(organizationId, webhookId),
    update: `SET ${set.join(", ")}${enabled === true ? " REMOVE disabledAt, disabledReason" : ""}`,
    condition: "attribute_exists(pk)",
    ...(url === undefined ? {} : { names: { "#url": "url" } }),
    values: {
      ":entity": "webhook",
      ...(url === undefined ? {} : { ":url": url }),
      ...(events === undefined ? {} : { ":events": events }),
      ...(enabled === false ? { ":at": now().toISOString(), ":reason": "by_customer" } : {}),
    },
  });
  if (!updated.applied) throw new ApiError("NOT_FOUND");
  return presentWebhook(updated.item);
}

/**
 * Gives an endpoint a new signing secret, which is in the answer and never again. For a day the one before it
 * signs the Standard Webhooks header too; an even older one signs no more.
 * @throws ApiError NOT_FOUND
 */
export async function rotateWebhookSecret(
  organizationId: string,
  webhookId: string,
): Promise<CreatedWebhook> {
  const secret = newWebhookSecret();
  const rotated = await updateItem(WebhookRecord, {
    key: keys.webhook(organizationId, webhookId),
    update: "SET previousSecret = secret, previousSecretUntil = :until, secret = :secret",
    // The SDK repeats a rotation whose answer was lost, which would take the new secret for the one before.
    condition: "attribute_exists(pk) AND secret <> :secret",
    values: {
      ":secret": secret,
      ":until": new Date(now().getTime() + secretOverlapMs).toISOString(),
    },
  });
  if (rotated.applied) return { ...presentWebhook(rotated.item), secret };
  if (rotated.found === undefined) throw new ApiError("NOT_FOUND");
  return { ...presentWebhook(WebhookRecord.parse(rotated.found)), secret };
}

/** Disables an endpoint for what came of calls to its URL; what the customer changed meanwhile stands. */
export async function disableWebhook(webhook: WebhookRecord, reason: "failing" | "gone"): Promise<void> {
  await updateItem(WebhookRecord, {
    key: keys.webhook(webhook.organizationId, webhook.id),
    update: "SET disabledAt = :at, disabledReason = :reason",
    condition: "attribute_exists(pk) AND attribute_not_exists(disabledAt) AND #url = :url",
    names: { "#url": "url" },
    values: { ":at": now().toISOString(), ":reason": reason, ":url": webhook.url },
  });
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
    releaseQuota(organizationId, "webhookCount"),
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
export async function findWebhook(
  organizationId: string,
  webhookId: string,
): Promise<WebhookRecord | undefined> {
  return readItem(WebhookRecord, keys.webhook(organizationId, webhookId), { consistent: true });
}

/**
 * One endpoint with its secret.
 * @throws ApiError NOT_FOUND, also for an endpoint of another organisation
 */
export async function readWebhook(organizationId: string, webhookId: string): Promise<WebhookRecord> {
  const webhook = await findWebhook(organizationId, webhookId);
  if (webhook === undefined) throw new ApiError("NOT_FOUND");
  return webhook;
}

function presentWebhook(webhook: WebhookRecord): Webhook {
  const { id, url, events, disabledAt, disabledReason, createdAt } = webhook;
  const status = disabledAt === undefined ? "enabled" : "disabled";
  return { id, url, events, status, disabledReason, disabledAt, createdAt };
}
