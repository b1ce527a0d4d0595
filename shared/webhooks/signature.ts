import { createHmac, randomBytes } from "node:crypto";

import { dayMs } from "../platform/clock.ts";

const secretPrefix = "whsec_";

/** The secrets that sign the calls of a webhook. */
export interface SigningSecrets {
  readonly secret: string;
  readonly previousSecret?: string | undefined;
  readonly previousSecretUntil?: string | undefined;
}

interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** Returns a new signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString("base64");
}

/** Returns the `X-Service-Signature`: hex HMAC-SHA256 of the raw body, keyed with the secret as it is shown. */
export function serviceSignature(secret: string, body: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** The time after a rotation in which the previous secret also signs calls. */
export const secretOverlapMs = dayMs;

/** Returns the `webhook-signature` header: by the secret, and for a day after a rotation by the previous one. */
export function standardSignatures(
  { secret, previousSecret, previousSecretUntil = "" }: SigningSecrets,
  at: Date,
  message: SignedMessage,
): string {
  const isOverlap = previousSecret !== undefined && at.toISOString() < previousSecretUntil;
  return (isOverlap ? [secret, previousSecret] : [secret])
    .map((each) => standardSignature(each, message))
    .join(" ");
}

/**
 * Returns one signature of Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed
 * with the bytes that the secret encodes.
 */
export function standardSignature(secret: string, message: SignedMessage): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  const signed = `${message.id}.${message.timestampSeconds}.${message.body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
