import * as z from "zod/mini";

import { idSchema } from "../../api/contract/primitives.ts";
import { hourMs, minuteMs, now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { newId } from "../ids.ts";
import { publicSessionKey, signingKeyId, signWithSessionKey } from "./session-key.ts";

const algorithm = "ES256";
const issuer = "sms-gateway";
const audience = "sms-gateway-api";
const type = "JWT";

/** The lifetime of a session that no one ends. */
export const sessionLifetimeMs = hourMs;

/** How far the clock of the function that checks a token may differ from the clock of its issuer. */
const clockSkewMs = minuteMs;

const Claims = z
  .object({
    sub: idSchema("usr"),
    org: idSchema("org"),
    jti: idSchema("ses"),
    iat: z.number(),
    exp: z.number(),
    /** Absent while the user has their first password. */
    pwv: z.optional(z.string()),
  })
  .check(
    // No token is valid for longer than a session, whichever code issued it.
    z.refine(({ iat, exp }) => (exp - iat) * secondMs <= sessionLifetimeMs),
    z.refine(({ iat }) => iat * secondMs <= now().getTime() + clockSkewMs),
  );

/** The content of a session token. */
export interface SessionClaims {
  readonly userId: string;
  readonly organizationId: string;
  readonly sessionId: string;
  /** When the log-in began, before the password was looked up. */
  readonly issuedAt: Date;
  /** The version of the password that the session began with. */
  readonly passwordVersion: string | undefined;
}

/**
 * Issues a signed session token (JWT, ES256) for one user. @returns also the id of its session, and when it ends
 * @param subject `issuedAt` is when the log-in began, and `passwordVersion` was current then. Both were read before the
 *   password hash, so that any replacement of the password ends the session
 * @throws Error when KMS does not sign it
 */
export async function issueSessionToken(subject: {
  userId: string;
  organizationId: string;
  issuedAt?: Date;
  passwordVersion?: string | undefined;
}): Promise<{ token: string; sessionId: string; expiresAt: Date }> {
  const sessionId = newId("ses");
  const { issuedAt = now(), passwordVersion } = subject;
  const expiresAt = new Date(issuedAt.getTime() + sessionLifetimeMs);
  const header = { alg: algorithm, typ: type, kid: signingKeyId() };
  const claims = {
    sub: subject.userId,
    org: subject.organizationId,
    jti: sessionId,
    iss: issuer,
    aud: audience,
    // RFC 7519 allows fractions. A session that begins in the second in which others are ended is therefore valid.
    iat: issuedAt.getTime() / secondMs,
    exp: expiresAt.getTime() / secondMs,
    pwv: passwordVersion,
  };
  const signed = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(claims))}`;
  return { token: `${signed}.${encoded(await signWithSessionKey(signed))}`, sessionId, expiresAt };
}

/** Loads the check of tokens before its first use, while Lambda initializes. A failure shows at the first use. */
export async function warmTokenCheck(): Promise<void> {
  const loadKey = async (): Promise<unknown> => publicSessionKey(signingKeyId());
  await Promise.allSettled([loadKey(), import("./verify-jwt.ts")]);
}

/**
 * Returns the content of a session token; undefined when it is forged or foreign.
 * @throws Error when the key cannot be loaded
 */
export async function verifySessionToken(token: string): Promise<SessionClaims | "expired" | undefined> {
  const keyId = config.sessionKeyIds().find((id) => id === keyIdOf(token));
  if (keyId === undefined) return undefined;
  const [key, { verifyJwt }] = await Promise.all([publicSessionKey(keyId), import("./verify-jwt.ts")]);
  const verified = await verifyJwt(token, key, {
    algorithms: [algorithm],
    issuer,
    audience,
    typ: type,
    currentDate: now(),
    requiredClaims: ["exp"],
  });
  if (verified === undefined || verified === "expired") return verified;
  const claims = Claims.safeParse(verified.payload);
  if (!claims.success) return undefined;
  const { sub, org, jti, iat, pwv } = claims.data;
  const issuedAt = new Date(iat * secondMs);
  return { userId: sub, organizationId: org, sessionId: jti, issuedAt, passwordVersion: pwv };
}

/** Returns the id of the key that a token names; undefined for no such token. */
function keyIdOf(token: string): unknown {
  try {
    return Object(JSON.parse(Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString("utf8"))).kid;
  } catch {
    return undefined;
  }
}

function encoded(part: string | Uint8Array): string {
  return Buffer.from(part).toString("base64url");
}
