import { releaseQuota, takeQuota } from "../accounts/quota.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import type {
  CreatedWebhook,
  CreateWebhookRequest,
  UpdateWebhookRequest,
  Webhook,
} from "../contract/webhooks.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { transact, untilUndisturbed, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { forgetFailures } from "./open-calls.ts";
import { maxWebhooks, presentWebhook, readWebhook, readWebhooks, WebhookRecord } from "./record.ts";
import { newWebhookSecret, secretOverlapMs } from "./signature.ts";
import { checkWebhookUrl } from "./target.ts";

/**
 * Registers a webhook. Its signing secret is in the answer and never again.
 * @throws ApiError VALIDATION_ERROR; CONFLICT when the organisation has as many webhooks as it may have; UNAVAILABLE
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
  if (created.outcome === "refused") {
    throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxWebhooks} webhooks.` });
  }
  return { ...presentWebhook(record), secret: record.secret };
}

/** The organisation's webhooks, newest first, without their secrets. */
export async function listWebhooks(organizationId: string, query: PageQuery): Promise<Page<Webhook>> {
  return pageOf((await readWebhooks(organizationId)).map(presentWebhook), query);
}

/**
 * One webhook, without its secret.
 * @throws ApiError NOT_FOUND, also for a webhook of another organisation
 */
export async function getWebhook(organizationId: string, webhookId: string): Promise<Webhook> {
  return presentWebhook(await readWebhook(organizationId, webhookId));
}

/**
 * Changes what is given of a webhook and leaves the rest. One that is enabled, or gets another URL, begins anew:
 * that it failed before counts no more.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND, UNAVAILABLE
 */
export async function updateWebhook(
  organizationId: string,
  webhookId: string,
  { url, events, enabled }: UpdateWebhookRequest,
): Promise<Webhook> {
  if (url !== undefined) checkWebhookUrl(url);
  const webhook = await readWebhook(organizationId, webhookId);
  if (url === undefined && events === undefined && enabled === undefined) return presentWebhook(webhook);
  if (enabled === true || url !== undefined) await forgetFailures(webhookId);
  const disabled = { disabledAt: now().toISOString(), disabledReason: "by_customer" };
  const changes = {
    set: { url, events },
    // A webhook that is disabled already keeps the reason that it has.
    ...(enabled === false ? { setIfAbsent: disabled } : {}),
    ...(enabled === true ? { remove: Object.keys(disabled) } : {}),
  };
  const update = updateOf(keys.webhook(organizationId, webhookId), changes, { present: ["pk"] });
  const updated = await updateItem(WebhookRecord, update);
  if (!updated.applied) throw new ApiError("NOT_FOUND");
  return presentWebhook(updated.item);
}

/**
 * Gives a webhook a new signing secret, which is in the answer and never again. For a day the one before it
 * signs the Standard Webhooks header too; an even older one signs no more.
 * @throws ApiError NOT_FOUND, UNAVAILABLE
 */
export async function rotateWebhookSecret(
  organizationId: string,
  webhookId: string,
): Promise<CreatedWebhook> {
  const secret = newWebhookSecret();
  const previousSecretUntil = new Date(now().getTime() + secretOverlapMs).toISOString();
  return untilUndisturbed(async () => {
    const { secret: previousSecret } = await readWebhook(organizationId, webhookId);
    const rotated = await updateItem(
      WebhookRecord,
      updateOf(
        keys.webhook(organizationId, webhookId),
        { set: { secret, previousSecret, previousSecretUntil } },
        { is: { secret: previousSecret } },
      ),
      { isOwn: (found) => found.secret === secret },
    );
    return rotated.applied ? { ...presentWebhook(rotated.item), secret } : undefined;
  });
}

/** Disables a webhook for what came of calls to its URL; what the customer changed meanwhile stands. */
export async function disableWebhook(webhook: WebhookRecord, reason: "failing" | "gone"): Promise<void> {
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
 * @throws ApiError NOT_FOUND, also for a webhook of another organisation; UNAVAILABLE
 */
export async function deleteWebhook(
  organizationId: string,
  webhookId: string,
): Promise<{ id: string; deleted: true }> {
  const deleted = await transact([
    { delete: keys.webhook(organizationId, webhookId), condition: "attribute_exists(pk)" },
    releaseQuota(organizationId, "webhookCount"),
  ]);
  if (deleted.outcome === "refused") throw new ApiError("NOT_FOUND");
  return { id: webhookId, deleted: true };
}
