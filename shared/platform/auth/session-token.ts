import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SignJWT } from "jose/jwt/sign";
import { jwtVerify } from "jose/jwt/verify";
import * as z from "zod";

import { idSchema } from "../../contract/primitives.ts";
import { hourMs, minuteMs, now } from "../clock.ts";
import { config } from "../config.ts";

const algorithm = "HS256";
const issuer = "sms-gateway";
const audience = "sms-gateway-api";
const type = "JWT";
const sessionLifetimeMs = hourMs;

const Claims = z.object({ sub: idSchema("usr"), org: idSchema("org") });

/** The key is waited for while the first calls wait, so its loading must not hang. */
const requestHandler = { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true };

/** A key that was replaced is out of use after this. */
const keyMaxAgeMs = 5 * minuteMs;

let loadedKey: { readonly key: Promise<Uint8Array>; readonly atMs: number } | undefined;

/** The signing key, loaded when it is not there or too old; a failed load is tried again at the next use. */
async function sessionKey(): Promise<Uint8Array> {
  const atMs = now().getTime();
  if (loadedKey === undefined || atMs - loadedKey.atMs > keyMaxAgeMs) {
    loadedKey = { key: loadSessionKey(), atMs };
  }
  try {
    return await loadedKey.key;
  } catch (error) {
    loadedKey = undefined;
    throw error;
  }
}

async function loadSessionKey(): Promise<Uint8Array> {
  const { SecretString } = await new SecretsManagerClient({ requestHandler }).send(
    new GetSecretValueCommand({ SecretId: config.sessionKeySecretId() }),
  );
  if (SecretString === undefined || SecretString.length < 32) {
    throw new Error("the session key must be a string secret of at least 32 characters");
  }
  return new TextEncoder().encode(SecretString);
}

/** Loads the key ahead of its first use, while Lambda still initialises. A failure shows at the first use. */
export async function warmSessionKey(): Promise<void> {
  await sessionKey().catch(() => undefined);
}

/** A signed session token (JWT, HS256) for one user, and when it ends. */
export async function issueSessionToken(subject: {
  userId: string;
  organizationId: string;
}): Promise<{ token: string; expiresAt: Date }> {
  const issuedAt = now();
  const expiresAt = new Date(issuedAt.getTime() + sessionLifetimeMs);
  const token = await new SignJWT({ org: subject.organizationId })
    .setProtectedHeader({ alg: algorithm, typ: type })
    .setSubject(subject.userId)
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(await sessionKey());
  return { token, expiresAt };
}

/** Whom a session token belongs to, or undefined when it is forged, foreign or has ended. */
export async function verifySessionToken(
  token: string,
): Promise<{ userId: string; organizationId: string } | undefined> {
  const key = await sessionKey();
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      issuer,
      audience,
      typ: type,
      currentDate: now(),
      requiredClaims: ["exp"],
    });
    const claims = Claims.parse(payload);
    return { userId: claims.sub, organizationId: claims.org };
  } catch {
    return undefined;
  }
}
