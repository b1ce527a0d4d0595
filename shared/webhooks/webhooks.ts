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
import { config } from "../platform/config.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { transact, untilUndisturbed, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { hasHadMoney } from "../wallet/record.ts";
import { forgetFailures } from "./open-calls.ts";
import { maxWebhooks, presentWebhook, readWebhook, readWebhooks, WebhookRecord } from "./record.ts";
import { deleteSecrets, moveSecrets, putSecrets, replaceSecret } from "./secrets.ts";
import { newWebhookSecret, secretOverlapMs } from "./signature.ts";
import { checkWebhookUrl } from "./target.ts";

/**
 * Registers a webhook. Its signing secret is in the answer and never again.
 * @throws ApiError VALIDATION_ERROR; CONFLICT when the organisation has as many webhooks as it may have, PAYMENT_REQUIRED
 *   when it may have more once money has come in; UNAVAILABLE
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
    createdAt: now().toISOString(),
  };
  const secret = newWebhookSecret();
  const max = await webhooksAllowed(organizationId);
  const created = await transact([
    takeQuota(organizationId, "webhookCount", max),
    {
      put: { ...keys.webhook(organizationId, record.id), ...record },
      condition: "attribute_not_exists(pk)",
    },
    await putSecrets(record, { secret }),
  ]);
  if (created.outcome === "refused") {
    if (max < maxWebhooks) {
      const message = `There are at most ${max} webhooks until money has come into the wallet.`;
      throw new ApiError("PAYMENT_REQUIRED", { message });
    }
    throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxWebhooks} webhooks.` });
  }
  return { ...presentWebhook(record), secret };
}

/** Fewer before money has come in: each message makes a call of each, and the server called may be somebody else's. */
async function webhooksAllowed(organizationId: string): Promise<number> {
  const beforePayment = config.webhooksBeforePayment() ?? maxWebhooks;
  if (beforePayment >= maxWebhooks || (await hasHadMoney(organizationId))) return maxWebhooks;
  return beforePayment;
}

/** The organisation's webhooks, newest first. */
export async function listWebhooks(organizationId: string, query: PageQuery): Promise<Page<Webhook>> {
  return pageOf((await readWebhooks(organizationId)).map(presentWebhook), query);
}

/**
 * One webhook.
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
  const previousSecretUntil = new Date(now().getTime() + secretOverlapMs);
  return untilUndisturbed(async () => {
    const webhook = await readWebhook(organizationId, webhookId);
    await moveSecrets(webhook);
    const isReplaced = await replaceSecret(webhook, secret, previousSecretUntil);
    return isReplaced ? { ...presentWebhook(webhook), secret } : undefined;
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
    deleteSecrets({ organizationId, id: webhookId }),
    releaseQuota(organizationId, "webhookCount"),
  ]);
  if (deleted.outcome === "refused") throw new ApiError("NOT_FOUND");
  return { id: webhookId, deleted: true };
}
