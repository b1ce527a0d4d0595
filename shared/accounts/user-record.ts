import * as z from "zod/mini";

import type { User } from "../contract/accounts.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/table.ts";
import type { Changes } from "../platform/table/update.ts";

export const UserRecord = z.object({
  entity: z.literal("user"),
  id: z.string(),
  organizationId: z.string(),
  email: z.string(),
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  createdAt: z.string(),
  /** Since when the email is known to be theirs. */
  emailVerifiedAt: z.optional(z.string()),
  /** Since when log-ins need a second factor, which is apart. */
  secondFactorAt: z.optional(z.string()),
  /** Since when they are no member any more: what else there is of them is about to go too. */
  removedAt: z.optional(z.string()),
  /** ISO 8601: sessions that were issued before have ended. */
  sessionsValidFrom: z.optional(z.string()),
  /** The session whose user has given their password once more, and when. */
  reauthenticated: z.optional(z.object({ sessionId: z.string(), at: z.string() })),
  /** Changes with the password: sessions that began with another version have ended. */
  passwordVersion: z.optional(z.string()),
  /** The one session of those that goes on: who has changed the password stays logged in. */
  keptSession: z.optional(z.string()),
  /** Sessions that were logged out one by one. */
  endedSessionIds: z.optional(z.set(z.string())),
});
export type UserRecord = z.infer<typeof UserRecord>;

/** The item that a user is found by; it keeps emails unique. */
export const EmailRecord = z.object({ entity: z.literal("email"), userId: z.string() });
export type EmailRecord = z.infer<typeof EmailRecord>;

/** Eventually consistent unless asked otherwise. */
export async function findUser(
  userId: string,
  options: { consistent?: boolean } = {},
): Promise<UserRecord | undefined> {
  return findItem(UserRecord, keys.user(userId), options);
}

/** The user who owns an email, as they are now. */
export async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await findItem(EmailRecord, keys.email(email), { consistent: true });
  // An unknown email costs a read too, or the time would tell it apart.
  return findItem(UserRecord, keys.user(owner?.userId ?? "nobody"), { consistent: true });
}

/** What a user's record calls the session that goes on when those before a moment end: it ends when a later one counts. */
export function nameOfKeptSession(sessionId: string, sessionsValidFrom: string): string {
  return `${sessionId} ${sessionsValidFrom}`;
}

/** What ends all sessions of a user that were issued before a moment. */
export function endAllSessions(
  { sessionsValidFrom = "" }: UserRecord,
  at: string,
): Required<Pick<Changes, "remove" | "set">> {
  return {
    set: { sessionsValidFrom: at > sessionsValidFrom ? at : sessionsValidFrom },
    remove: ["endedSessionIds", "keptSession"],
  };
}

export function presentUser(user: UserRecord): User {
  const { id, email, firstName, lastName, createdAt, secondFactorAt } = user;
  return { id, email, firstName, lastName, secondFactor: secondFactorAt !== undefined, createdAt };
}
