import * as z from "zod/mini";

import type { SessionClaims } from "../../platform/auth/session-token.ts";
import { epochSeconds, hourMs, now, secondMs } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { nameOfKeptSession, type UserRecord } from "../../tenancy/users/record.ts";

/** A session. Without its record, the session of a browser has ended; that of a token only leaves the list. */
export const SessionRecord = z.object({
  entity: z.literal("session"),
  id: z.string(),
  userId: z.string(),
  organizationId: z.string(),
  /** The hash of the secret in the cookie. The session of a token has none. */
  secretHash: z.optional(z.string()),
  /** A moment before the password was checked, and its version at that time. */
  issuedAt: z.string(),
  passwordVersion: z.optional(z.string()),
  userAgent: z.optional(z.string()),
  /** The latest end of the session, in seconds since the epoch. */
  expiresAt: z.int(),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** The last use of a browser's session. Functions that note uses need no permission to change sessions. */
export const SessionUseRecord = z.object({
  entity: z.literal("sessionUse"),
  lastUsedAt: z.string(),
  expiresAt: z.int(),
});
export type SessionUseRecord = z.infer<typeof SessionUseRecord>;

const maxUserAgentCharacters = 300;

/** Adds a session to those of its user. */
export async function putSession(
  user: UserRecord,
  session: {
    readonly id: string;
    readonly issuedAt: Date;
    readonly expiresAt: Date;
    readonly userAgent: string | undefined;
    readonly secretHash?: string;
  },
): Promise<SessionRecord> {
  const { id, issuedAt, expiresAt, userAgent, secretHash } = session;
  const record: SessionRecord = {
    entity: "session",
    id,
    userId: user.id,
    organizationId: user.organizationId,
    secretHash,
    issuedAt: issuedAt.toISOString(),
    passwordVersion: user.passwordVersion,
    userAgent: userAgent?.slice(0, maxUserAgentCharacters).toWellFormed(),
    expiresAt: epochSeconds(expiresAt),
  };
  await putItem(putOf(keys.session(user.id, id), record));
  return record;
}

export function claimsOf(record: SessionRecord): SessionClaims {
  const { id: sessionId, userId, organizationId, issuedAt, passwordVersion } = record;
  return { sessionId, userId, organizationId, issuedAt: new Date(issuedAt), passwordVersion };
}

/** How long the session of a browser lasts without a request. */
const idleMs = hourMs;

/** Returns when a session ends if there are no more requests. */
export function endOf({ secretHash, issuedAt, expiresAt }: SessionRecord, lastUsedAt = issuedAt): Date {
  const idleEndMs = secretHash === undefined ? Infinity : Date.parse(lastUsedAt) + idleMs;
  return new Date(Math.min(expiresAt * secondMs, idleEndMs));
}

export function isOver(record: SessionRecord, lastUsedAt?: string): boolean {
  return endOf(record, lastUsedAt).getTime() <= now().getTime();
}

/** Whether the user of a session, the password and log-outs still allow it. */
export function isOpen(session: SessionClaims, user: UserRecord): boolean {
  const { sessionsValidFrom, keptSession, endedSessionIds, removedAt } = user;
  const isOfPassword = session.passwordVersion === user.passwordVersion;
  return (
    removedAt === undefined &&
    user.organizationId === session.organizationId &&
    endedSessionIds?.has(session.sessionId) !== true &&
    (sessionsValidFrom === undefined
      ? isOfPassword
      : (isOfPassword && session.issuedAt.getTime() >= Date.parse(sessionsValidFrom)) ||
        keptSession === nameOfKeptSession(session.sessionId, sessionsValidFrom))
  );
}
