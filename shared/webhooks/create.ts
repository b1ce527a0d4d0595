import { ApiError } from "../api/contract/errors.ts";
import type { CreatedWebhook, CreateWebhookRequest } from "../api/contract/webhooks.ts";
import { hasHadMoney } from "../money/wallet/record.ts";
import { transactWithEmails } from "../notices/emails/queue-email.ts";
import { limitsOf, type Actor, type Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { checkWebhookUrl } from "../platform/http/webhook-target.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { insertOf } from "../platform/table/write.ts";
import { changeNotices } from "../tenancy/organizations/owner-notices.ts";
import { takeQuota } from "../tenancy/organizations/quota.ts";
import { maxWebhooks, toApiWebhook, type WebhookRecord } from "./record.ts";
import { putSecret } from "./secrets.ts";
import { newWebhookSecret } from "./signature.ts";

/**
 * Registers a webhook, or for a test key one that gets events about test messages only. Only this response contains its signing secret.
 * @throws ApiError VALIDATION_ERROR; CONFLICT at the limit of webhooks; PAYMENT_REQUIRED at the limit before the first
 *   payment; UNAVAILABLE
 */
export async function createWebhook(
  { organizationId, isTest }: Viewer,
  request: CreateWebhookRequest,
  actor?: Actor,
): Promise<CreatedWebhook> {
  checkWebhookUrl(request.url);
  const record: WebhookRecord = {
    entity: "webhook",
    id: newId("whk"),
    organizationId,
    url: request.url,
    events: request.events,
    createdAt: now().toISOString(),
    createdBy: actor?.userId,
    createdWith: actor?.credential.type === "apiKey" ? actor.credential.keyId : undefined,
    budgetKeyId: limitsOf(actor)?.budgetKeyId,
    ...(isTest && { test: true }),
  };
  const secret = newWebhookSecret();
  const max = await webhooksAllowed(organizationId);
  const notices = isTest ? [] : await changeNotices(organizationId, "webhookMade");
  const created = await transactWithEmails(notices, {
    quota: takeQuota(organizationId, "webhookCount", max),
    webhook: insertOf(keys.webhook(organizationId, record.id), record),
    secret: await putSecret(record, secret),
  });
  if (created.outcome === "rejected") {
    if (max < maxWebhooks) {
      const message = `There are at most ${max} webhooks until money has come into the wallet.`;
      throw new ApiError("PAYMENT_REQUIRED", { message });
    }
    throw new ApiError("CONFLICT", { message: `An organization has at most ${maxWebhooks} webhooks.` });
  }
  return { ...toApiWebhook(record), secret };
}

/** Returns the limit. It is lower before the first payment, because each webhook multiplies calls to a third party. */
async function webhooksAllowed(organizationId: string): Promise<number> {
  const beforePayment = config.webhooksBeforePayment() ?? maxWebhooks;
  if (beforePayment >= maxWebhooks || (await hasHadMoney(organizationId))) return maxWebhooks;
  return beforePayment;
}
