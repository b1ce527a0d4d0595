import { ApiError } from "../api/contract/errors.ts";
import type { UpdateWebhookRequest, Webhook } from "../api/contract/webhooks.ts";
import { transactWithEmails } from "../notices/emails/queue-email.ts";
import type { KeyLimits, Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { checkWebhookUrl } from "../platform/http/webhook-target.ts";
import { keys } from "../platform/table/keys.ts";
import { updateOf } from "../platform/table/write.ts";
import { changeNotices } from "../tenancy/organizations/owner-notices.ts";
import { deleteFailures } from "./in-flight-calls.ts";
import { readWebhook, requireOwnWebhook } from "./record.ts";
import { toApiWithHealth } from "./webhooks.ts";

/**
 * Changes the given fields of a webhook. Enabling it, or another URL, deletes its previous failures. All owners are notified of
 * another URL, of more events and when it is called again. By these, someone else may get to know of the messages.
 * @param limits those of the calling key
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND, INSUFFICIENT_SCOPE, UNAVAILABLE
 */
export async function updateWebhook(
  viewer: Viewer,
  webhookId: string,
  { url, events, enabled }: UpdateWebhookRequest,
  limits?: KeyLimits,
): Promise<Webhook> {
  if (url !== undefined) checkWebhookUrl(url);
  const webhook = await readWebhook(viewer, webhookId);
  requireOwnWebhook(webhook, limits);
  if (url === undefined && events === undefined && enabled === undefined) return toApiWithHealth(webhook);
  if (enabled === true || url !== undefined) await deleteFailures(webhookId);
  const disabled = { disabledAt: now().toISOString(), disabledReason: "by_customer" } as const;
  const changes = {
    set: { url, events },
    // A webhook that is already disabled keeps its reason.
    ...(enabled === false ? { setIfAbsent: disabled } : {}),
    ...(enabled === true ? { remove: ["disabledAt", "disabledReason"] as const } : {}),
  };
  const { organizationId } = viewer;
  const update = updateOf(keys.webhook(organizationId, webhookId), changes, { present: ["pk"] });
  const showsMore =
    (url !== undefined && url !== webhook.url) ||
    (enabled === true && webhook.disabledAt !== undefined) ||
    events?.some((each) => !webhook.events.includes(each)) === true;
  const isNoticed = showsMore && webhook.test === undefined;
  const notices = isNoticed ? await changeNotices(organizationId, "webhookChanged") : [];
  const updated = await transactWithEmails(notices, { webhook: update });
  if (updated.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return toApiWithHealth(await readWebhook(viewer, webhookId));
}
