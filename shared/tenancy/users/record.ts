import * as z from "zod/mini";

import type { User } from "../../api/contract/accounts.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";

export const UserRecord = z.object({
  entity: z.literal("user"),
  id: z.string(),
  organizationId: z.string(),
  email: z.string(),
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  createdAt: z.string(),
  /** When the email was verified. */
  emailVerifiedAt: z.optional(z.string()),
  /** When the second factor was confirmed. It has a record of its own. */
  secondFactorAt: z.optional(z.string()),
  /** When the user was removed as a member. The rest of their data is deleted soon after. */
  removedAt: z.optional(z.string()),
  /** ISO 8601. All sessions that were issued earlier have ended, except `keptSession`. */
  sessionsValidFrom: z.optional(z.string()),
  /** The session whose user gave their password again, and when. */
  reauthenticated: z.optional(z.object({ sessionId: z.string(), at: z.string() })),
  /** Changes with the password. Sessions that began with another version have ended. */
  passwordVersion: z.optional(z.string()),
  /** The one earlier session that continues: a user who changes the password stays logged in. */
  keptSession: z.optional(z.string()),
  /** Sessions that were logged out one by one. */
  endedSessionIds: z.optional(z.set(z.string())),
});
export type UserRecord = z.infer<typeof UserRecord>;

/** The item that finds a user by their email, and keeps emails unique. */
export const EmailRecord = z.object({ entity: z.literal("email"), userId: z.string() });
export type EmailRecord = z.infer<typeof EmailRecord>;

/** Reads a user, eventually consistent by default. */
export async function findUser(
  userId: string,
  options: { consistent?: boolean } = {},
): Promise<UserRecord | undefined> {
  return findItem(UserRecord, keys.user(userId), options);
}

/** Finds the user who owns an email. The read is consistent. */
export async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await findItem(EmailRecord, keys.email(email), { consistent: true });
  // An unknown email costs a read too, so that the time does not distinguish it.
  return findItem(UserRecord, keys.user(owner?.userId ?? "missing"), { consistent: true });
}

/**
 * Returns the value of `keptSession`. It includes `sessionsValidFrom`, so that a later moment also ends the kept
 * session.
 */
export function nameOfKeptSession(sessionId: string, sessionsValidFrom: string): string {
  return `${sessionId} ${sessionsValidFrom}`;
}

/** Returns the change that ends all sessions of a user that were issued before a moment. */
export function endAllSessions(
  { sessionsValidFrom = "" }: UserRecord,
  at: string,
): Required<Pick<Changes<"user">, "remove" | "set">> {
  return {
    set: { sessionsValidFrom: at > sessionsValidFrom ? at : sessionsValidFrom },
    remove: ["endedSessionIds", "keptSession"],
  };
}

export function toApiUser(user: UserRecord): User {
  const { id, email, emailVerifiedAt, firstName, lastName, createdAt, secondFactorAt } = user;
  const emailVerified = emailVerifiedAt === undefined ? undefined : true;
  return {
    id,
    email,
    emailVerified,
    firstName,
    lastName,
    secondFactor: secondFactorAt !== undefined,
    createdAt,
  };
}
