import { createHmac, createSecretKey } from "node:crypto";

import { hashApiKeySecret } from "../../platform/auth/api-key-secret.ts";
import { isSame } from "../../platform/auth/is-same.ts";
import { sealText, unsealText } from "../../platform/auth/sealed-text.ts";
import { noteSealingKey } from "../../platform/auth/sealing-key-record.ts";
import { Secret } from "../../platform/auth/secret.ts";
import { minuteMs, now, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { type CredentialRecord, type HookOfCredential, hookIdOf } from "../../tenancy/api-keys/record.ts";
import { standardSignature } from "../../webhooks/signature.ts";

/** The parts of a call of a login system that prove where it comes from. */
export interface HookCall {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: string;
}

/** How far the time of a signature may differ from ours, as Standard Webhooks and Zitadel have it. */
const toleranceMs = 5 * minuteMs;

/** The secrets of hooks have the key of the webhooks' secrets. */
const webhookKey = new Secret(config.webhookKeySecretId);

/** Returns the secret of a hook, sealed for the table. */
export async function sealHookSecret(
  organizationId: string,
  hookId: string,
  secret: string,
): Promise<string> {
  const key = await webhookKey.value();
  await noteSealingKey("webhooks", key);
  return sealText(key, secret, placeOf(organizationId, hookId));
}

interface Proof {
  /** Identifies a signed call, however often it comes. All of it is covered by the signature. */
  readonly repeatId?: string | undefined;
}

/** Returns the proof of a call: the token of a hook, or a signature with its secret. @returns undefined without one */
export async function proofOf(
  { organizationId, keyId }: CredentialRecord,
  { kind, tokenHash, sealedSecret }: HookOfCredential,
  call: HookCall,
): Promise<Proof | undefined> {
  if (tokenHash !== undefined) return isSame(tokenHash, hashApiKeySecret(tokenOf(call))) ? {} : undefined;
  if (sealedSecret === undefined) return undefined;
  const place = placeOf(organizationId, hookIdOf(keyId));
  const secret = unsealText(await webhookKey.value(), sealedSecret, place);
  if (kind === "zitadel") return proofOfZitadel(secret, call);
  if (kind === "auth0") {
    const signed = await signedByAuth0(secret, call);
    return signed === undefined ? undefined : { repeatId: await nameOf(signed + call.rawBody) };
  }
  // Supabase gives each attempt an id of its own, so the body names the call.
  return isSignedByStandard(secret, call) ? { repeatId: await nameOf(call.rawBody) } : undefined;
}

/** Returns the name of a call with a code in it. A plain hash of the code could be inverted. */
async function nameOf(content: string): Promise<string> {
  return createHmac("sha256", await webhookKey.value())
    .update(content)
    .digest("hex");
}

/** The most signatures of a header. A system that replaces its key has two. */
const maxSignatures = 10;

/** Supabase sends several signatures with a comma between them, where Standard Webhooks has a space. */
function isSignedByStandard(secret: string, { headers, rawBody: body }: HookCall): boolean {
  const { "webhook-id": id = "", "webhook-timestamp": time = "", "webhook-signature": given = "" } = headers;
  const message = { id, timestampSeconds: Number(time), body };
  const expected = standardSignature(secret.replace(/^v1,/, ""), message);
  return (
    isRecent(time) && given.split(/[ ,]+/, 2 * maxSignatures).some((each) => isSame(expected, `v1,${each}`))
  );
}

/** Zitadel sends `t=<seconds>,v1=<hex>,…`, with a signature for each key. Anyone can add and reorder the other ones. */
function proofOfZitadel(secret: string, { headers, rawBody }: HookCall): Proof | undefined {
  const [time = "", ...given] = (headers["zitadel-signature"] ?? "")
    .replace(/^t=/, "")
    .split(",", 1 + maxSignatures);
  const expected = createHmac("sha256", secret).update(`${time}.${rawBody}`).digest("hex");
  const isSigned = isRecent(time) && given.some((each) => isSame(`v1=${expected}`, each));
  return isSigned ? { repeatId: `${time} ${expected}` } : undefined;
}

/** The audience of Auth0's tokens, as the guide has it: another service may know the secret. */
const audience = "urn:sms-gateway";

/**
 * Auth0 sends a JSON Web Token that it signs with the secret. A token does not cover the body, and those of one second are
 * equal. So one is valid for as long as a signature, and once for each body.
 * @returns the signed part of the token: its signature could be written in other ways
 */
async function signedByAuth0(secret: string, call: HookCall): Promise<string | undefined> {
  const { verifyJwt } = await import("../../platform/auth/verify-jwt.ts");
  const options = { algorithms: ["HS256"], audience, currentDate: now() };
  const token = tokenOf(call);
  const verified = await verifyJwt(token, createSecretKey(Buffer.from(secret)), options);
  if (typeof verified !== "object" || !isRecent(String(verified.payload.iat))) return undefined;
  return token.slice(0, token.lastIndexOf(".") + 1);
}

/** Returns the token of a call. Some systems send it without the name of the scheme. */
function tokenOf({ headers }: HookCall): string {
  return (headers["authorization"] ?? "").replace(/^Bearer +/i, "");
}

function isRecent(seconds: string): boolean {
  return /^\d+$/.test(seconds) && Math.abs(now().getTime() - Number(seconds) * secondMs) <= toleranceMs;
}

/** Binds a sealed secret to its hook. */
function placeOf(organizationId: string, hookId: string): string {
  return `hook secret of ${organizationId} ${hookId}`;
}
