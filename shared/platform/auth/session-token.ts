import { SignJWT } from "jose/jwt/sign";
import { jwtVerify } from "jose/jwt/verify";
import * as z from "zod";

import { idSchema } from "../../contract/primitives.ts";
import { hourMs, now } from "../clock.ts";
import { config } from "../config.ts";
import { Secret } from "./secret.ts";

const algorithm = "HS256";
const issuer = "sms-gateway";
const audience = "sms-gateway-api";
const type = "JWT";
const sessionLifetimeMs = hourMs;

const Claims = z.object({ sub: idSchema("usr"), org: idSchema("org") });

const sessionKeySecret = new Secret(config.sessionKeySecretId);

async function sessionKey(): Promise<Uint8Array> {
  return new TextEncoder().encode(await sessionKeySecret.value());
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
