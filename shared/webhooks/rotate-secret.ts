import type { CreatedWebhook } from "../api/contract/webhooks.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { untilUndisturbed } from "../platform/table/transact.ts";
import { readWebhook } from "./record.ts";
import { replaceSecret } from "./secrets.ts";
import { newWebhookSecret, secretOverlapMs } from "./signature.ts";
import { toApiWithHealth } from "./webhooks.ts";

/**
 * Gives a webhook a new signing secret, which only this response contains. For a day the previous one also signs the
 * Standard Webhooks header. An older one signs no calls.
 * @throws ApiError NOT_FOUND, UNAVAILABLE
 */
export async function rotateWebhookSecret(viewer: Viewer, webhookId: string): Promise<CreatedWebhook> {
  const secret = newWebhookSecret();
  const previousSecretUntil = new Date(now().getTime() + secretOverlapMs);
  return untilUndisturbed(async () => {
    const webhook = await readWebhook(viewer, webhookId);
    const isReplaced = await replaceSecret(webhook, secret, previousSecretUntil);
    return isReplaced ? { ...(await toApiWithHealth(webhook)), secret } : undefined;
  });
}
