import { ApiError } from "../api/contract/errors.ts";
import type { Page, PageQuery } from "../api/contract/primitives.ts";
import type { UpdateWebhookRequest, Webhook } from "../api/contract/webhooks.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { checkWebhookUrl } from "../platform/http/webhook-target.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { undefinedIfUnreadable } from "../platform/table/records.ts";
import { transact } from "../platform/table/transact.ts";
import { updateItem, updateOf, deleteOf } from "../platform/table/write.ts";
import { releaseQuota } from "../tenancy/organizations/quota.ts";
import { isCallbacks } from "./callbacks.ts";
import { findFailingHealth, deleteFailures } from "./in-flight-calls.ts";
import { toApiWebhook, readWebhook, readWebhooks, WebhookRecord } from "./record.ts";

/** Returns the webhooks that a viewer sees, newest first. */
export async function listWebhooks(
  { organizationId, isTest }: Viewer,
  query: PageQuery,
): Promise<Page<Webhook>> {
  const all = await readWebhooks(organizationId);
  const { rows, meta } = pageOf(isTest ? all.filter(({ test }) => test === true) : all, query);
  return { rows: await Promise.all(rows.map(toApiWithHealth)), meta };
}

/**
 * One webhook.
 * @throws ApiError NOT_FOUND, also for a webhook of another organization
 */
export async function getWebhook(viewer: Viewer, webhookId: string): Promise<Webhook> {
  return toApiWithHealth(await readWebhook(viewer, webhookId));
}

/** Returns a webhook as its owner sees it, with its failures as far as they can be read. */
export async function toApiWithHealth(webhook: WebhookRecord): Promise<Webhook> {
  return toApiWebhook(webhook, await findFailingHealth(webhook.id).catch(undefinedIfUnreadable));
}

/**
 * Changes the given fields of a webhook. Enabling it, or another URL, deletes its previous failures.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND, UNAVAILABLE
 */
export async function updateWebhook(
  viewer: Viewer,
  webhookId: string,
  { url, events, enabled }: UpdateWebhookRequest,
): Promise<Webhook> {
  if (url !== undefined) checkWebhookUrl(url);
  const webhook = await readWebhook(viewer, webhookId);
  if (url === undefined && events === undefined && enabled === undefined) return toApiWithHealth(webhook);
  if (enabled === true || url !== undefined) await deleteFailures(webhookId);
  const disabled = { disabledAt: now().toISOString(), disabledReason: "by_customer" } as const;
  const changes = {
    set: { url, events },
    // A webhook that is already disabled keeps its reason.
    ...(enabled === false ? { setIfAbsent: disabled } : {}),
    ...(enabled === true ? { remove: ["disabledAt", "disabledReason"] as const } : {}),
  };
  const update = updateOf(keys.webhook(viewer.organizationId, webhookId), changes, { present: ["pk"] });
  const updated = await updateItem(WebhookRecord, update);
  if (!updated.applied) throw new ApiError("NOT_FOUND");
  return toApiWithHealth(updated.item);
}

/** Returns the webhooks that a user registered and that are still called. */
export async function webhooksMadeBy(organizationId: string, userId: string): Promise<Webhook[]> {
  const all = await readWebhooks(organizationId);
  const own = all.filter(({ createdBy, disabledAt }) => createdBy === userId && disabledAt === undefined);
  return own.map((webhook) => toApiWebhook(webhook));
}

/** Disables a webhook because of the calls to its URL, unless the customer changed that in the meantime. */
export async function disableWebhook(webhook: WebhookRecord, reason: "failing" | "gone"): Promise<void> {
  if (isCallbacks(webhook.id)) return;
  await updateItem(
    WebhookRecord,
    updateOf(
      keys.webhook(webhook.organizationId, webhook.id),
      { set: { disabledAt: now().toISOString(), disabledReason: reason } },
      { present: ["pk"], absent: ["disabledAt"], is: { url: webhook.url } },
    ),
  );
}

/**
 * Removes a webhook.
 * @throws ApiError NOT_FOUND, also for a webhook of another organization; UNAVAILABLE
 */
export async function deleteWebhook(
  viewer: Viewer,
  webhookId: string,
): Promise<{ id: string; deleted: true }> {
  const { organizationId, isTest } = viewer;
  if (isTest) await readWebhook(viewer, webhookId);
  const deleted = await transact({
    webhook: deleteOf(keys.webhook(organizationId, webhookId), { present: ["pk"] }),
    secrets: deleteOf(keys.webhookSecrets(organizationId, webhookId)),
    quota: releaseQuota(organizationId, "webhookCount"),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return { id: webhookId, deleted: true };
}
