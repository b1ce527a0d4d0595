import type { CreatedWebhook } from "../api/contract/webhooks.ts";
import { owedEmail } from "../notices/emails/email-job.ts";
import { queueOwedEmails } from "../notices/emails/queue-email.ts";
import type { KeyLimits, Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { untilUndisturbed } from "../platform/table/transact.ts";
import { changeNotices } from "../tenancy/organizations/owner-notices.ts";
import { readWebhook, requireOwnWebhook } from "./record.ts";
import { replaceSecret } from "./secrets.ts";
import { newWebhookSecret, secretOverlapMs } from "./signature.ts";
import { toApiWithHealth } from "./webhooks.ts";

/**
 * Gives a webhook a new signing secret, which only this response contains. For a day the previous one also signs the
 * Standard Webhooks header. An older one signs no calls. All owners are notified, because receivers reject calls that they
 * cannot verify.
 * @param limits those of the calling key
 * @throws ApiError NOT_FOUND, INSUFFICIENT_SCOPE, UNAVAILABLE
 */
export async function rotateWebhookSecret(
  viewer: Viewer,
  webhookId: string,
  limits?: KeyLimits,
): Promise<CreatedWebhook> {
  const secret = newWebhookSecret();
  const previousSecretUntil = new Date(now().getTime() + secretOverlapMs);
  return untilUndisturbed(async () => {
    const webhook = await readWebhook(viewer, webhookId);
    requireOwnWebhook(webhook, limits);
    const isOfTests = viewer.isTest || webhook.test === true;
    const notices = isOfTests ? [] : await changeNotices(viewer.organizationId, "webhookSecretReplaced");
    const isReplaced = await replaceSecret(webhook, secret, previousSecretUntil, notices.map(owedEmail));
    if (isReplaced) await queueOwedEmails(notices);
    return isReplaced ? { ...(await toApiWithHealth(webhook)), secret } : undefined;
  });
}
