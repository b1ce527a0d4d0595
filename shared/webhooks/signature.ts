import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";

/** A new signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString("base64");
}

/** The spec's `X-Service-Signature`: hex HMAC-SHA256 of the raw body, keyed with the secret as it is shown. */
export function serviceSignature(secret: string, body: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/**
 * The `webhook-signature` of Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed
 * with the bytes that the secret encodes.
 */
export function standardSignature(
  secret: string,
  message: { id: string; timestampSeconds: number; body: string },
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  const signed = `${message.id}.${message.timestampSeconds}.${message.body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
