import * as z from "zod/mini";

import { isSealedWith, sealText, unsealText } from "../platform/auth/sealed-text.ts";
import { noteSealingKey } from "../platform/auth/sealing-key-record.ts";
import { Secret } from "../platform/auth/secret.ts";
import { config } from "../platform/config.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { transact } from "../platform/table/transact.ts";
import { changesOfPatch, insertOf, type Put, updateOf, type Write } from "../platform/table/write.ts";
import { isCallbacks } from "./callbacks.ts";
import { findWebhook, type WebhookRecord } from "./record.ts";
import { newWebhookSecret, type SigningSecrets } from "./signature.ts";

/*
 * The signing secrets of webhooks. They are separate from the webhooks, because many functions read those. They are sealed
 * with a key of the stage. Only the functions that create, replace or use secrets may read them and have the key.
 * "Callbacks" are the calls to the `callbackUrl` of messages. They act as one webhook of the organization, whose secret is
 * created when a person requests it.
 */

export const WebhookSecretRecord = z.object({
  entity: z.literal("webhookSecret"),
  sealedSecret: z.string(),
  /** The secret before the last rotation, which also signs until `previousSecretUntil`. */
  previousSealedSecret: z.optional(z.string()),
  previousSecretUntil: z.optional(z.string()),
});
type WebhookSecretRecord = z.infer<typeof WebhookSecretRecord>;

type WebhookId = Pick<WebhookRecord, "id" | "organizationId">;

const webhookKey = new Secret(config.webhookKeySecretId);

function keyOf({ organizationId, id }: WebhookId): Key<"webhookSecrets"> {
  return keys.webhookSecrets(organizationId, id);
}

/** Binds a sealed secret to its webhook. */
function placeOf({ organizationId, id }: WebhookId): string {
  return `webhook secret of ${organizationId} ${id}`;
}

/** The write that stores a webhook's first secret, sealed. It belongs in the transaction that creates the webhook. */
export async function putSecret(webhook: WebhookId, secret: string): Promise<Put> {
  const key = await webhookKey.value();
  await noteSealingKey("webhooks", key);
  const sealedSecret = sealText(key, secret, placeOf(webhook));
  const record: WebhookSecretRecord = { entity: "webhookSecret", sealedSecret };
  return insertOf(keyOf(webhook), record);
}

/**
 * Returns the secrets that sign the calls of a webhook; undefined when the webhook has been removed.
 * @throws SealedWithAnotherKey when the stage's key has been lost or replaced; Error when the key is not available
 */
export async function findSecrets(webhook: WebhookRecord): Promise<SigningSecrets | undefined> {
  const record = await findItem(WebhookSecretRecord, keyOf(webhook), { consistent: true });
  if (record === undefined) {
    // No one has requested the secret of callbacks yet, so no one can check the signature.
    if (isCallbacks(webhook.id)) return { secret: newWebhookSecret() };
    if ((await findWebhook(webhook.organizationId, webhook.id)) === undefined) return undefined;
    throw new Error(`the webhook ${webhook.id} has no secret`);
  }
  const key = await webhookKey.value();
  const { previousSealedSecret: previous } = record;
  // A key that was replaced for good cannot read the previous secret, and the present one signs alone.
  const canSign = previous !== undefined && isSealedWith(key, previous);
  return {
    secret: unsealText(key, record.sealedSecret, placeOf(webhook)),
    previousSecret: canSign ? unsealText(key, previous, placeOf(webhook)) : undefined,
    previousSecretUntil: record.previousSecretUntil,
  };
}

/**
 * Replaces the secret of a webhook, or adds the first one of callbacks.
 * @param previousSecretUntil until when the previous one also signs
 * @param together more writes of the same transaction
 * @returns false when another rotation came first, or the webhook has been removed
 */
export async function replaceSecret(
  webhook: WebhookId,
  secret: string,
  previousSecretUntil: Date,
  together: readonly Write[],
): Promise<boolean> {
  const seen = await findItem(WebhookSecretRecord, keyOf(webhook), { consistent: true });
  if (seen === undefined && !isCallbacks(webhook.id)) return false;
  const key = await webhookKey.value();
  await noteSealingKey("webhooks", key);
  const sealedSecret = sealText(key, secret, placeOf(webhook));
  // After a loss of the key, the previous secret cannot sign, and must not prevent the new one from signing.
  const canSign = seen !== undefined && isSealedWith(key, seen.sealedSecret);
  const replaced = updateOf(
    keyOf(webhook),
    changesOfPatch<"webhookSecrets">({
      entity: "webhookSecret",
      sealedSecret,
      previousSealedSecret: canSign ? seen.sealedSecret : null,
      previousSecretUntil: canSign ? previousSecretUntil.toISOString() : null,
    }),
    seen === undefined ? { absent: ["pk"] } : { is: { sealedSecret: seen.sealedSecret } },
  );
  return (await transact({ secret: replaced, together })).outcome === "committed";
}
