import { ApiError } from "../api/contract/errors.ts";
import type { Page, PageQuery } from "../api/contract/primitives.ts";
import type { Webhook } from "../api/contract/webhooks.ts";
import { owedStop } from "../notices/emails/email-job.ts";
import type { KeyLimits, Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { undefinedIfUnreadable } from "../platform/table/records.ts";
import { transact } from "../platform/table/transact.ts";
import { updateItem, updateOf, deleteOf } from "../platform/table/write.ts";
import { allApiKeys } from "../tenancy/api-keys/record.ts";
import { releaseQuota } from "../tenancy/organizations/quota.ts";
import { isCallbacks } from "./callbacks.ts";
import { findFailingHealth } from "./in-flight-calls.ts";
import { requireOwnWebhook, toApiWebhook, readWebhook, readWebhooks, WebhookRecord } from "./record.ts";

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

/** Returns the webhooks that a key registered, or keys that were made with it, and that are still called. */
export async function webhooksMadeWith(organizationId: string, keyId: string): Promise<Webhook[]> {
  const [all, apiKeys] = await Promise.all([readWebhooks(organizationId), allApiKeys(organizationId)]);
  const descendants = apiKeys.filter(({ ancestorIds }) => ancestorIds.includes(keyId));
  const keyIds = new Set([keyId, ...descendants.map(({ id }) => id)]);
  return all
    .filter(({ createdWith = "", disabledAt }) => disabledAt === undefined && keyIds.has(createdWith))
    .map((webhook) => toApiWebhook(webhook));
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
 * Disables a webhook for an operator. Owners and administrators get an email within twenty minutes. One that is disabled already
 * keeps its reason.
 * @returns whether this call disabled it
 */
export async function stopWebhook({ organizationId, id }: WebhookRecord): Promise<boolean> {
  const stoppedAt = now().toISOString();
  const set = { disabledAt: stoppedAt, disabledReason: "by_customer", stoppedAt } as const;
  const stopped = await transact({
    webhook: updateOf(keys.webhook(organizationId, id), { set }, { present: ["pk"], absent: ["disabledAt"] }),
    notice: owedStop(organizationId, "webhook", id),
  });
  return stopped.outcome === "committed";
}

/**
 * Removes a webhook.
 * @param limits those of the calling key
 * @throws ApiError NOT_FOUND, also for a webhook of another organization; INSUFFICIENT_SCOPE; UNAVAILABLE
 */
export async function deleteWebhook(
  viewer: Viewer,
  webhookId: string,
  limits?: KeyLimits,
): Promise<{ id: string; deleted: true }> {
  const { organizationId, isTest } = viewer;
  if (isTest || limits !== undefined) requireOwnWebhook(await readWebhook(viewer, webhookId), limits);
  const deleted = await transact({
    webhook: deleteOf(keys.webhook(organizationId, webhookId), { present: ["pk"] }),
    secrets: deleteOf(keys.webhookSecrets(organizationId, webhookId)),
    quota: releaseQuota(organizationId, "webhookCount"),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return { id: webhookId, deleted: true };
}
