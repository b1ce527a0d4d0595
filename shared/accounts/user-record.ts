import * as z from "zod";

import type { User } from "../contract/accounts.ts";
import { allScopes, Role, scopesOfRole, type Scope } from "../contract/scopes.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Update } from "../platform/table/table.ts";
import { updateOf, type Requirements } from "../platform/table/update.ts";

export const UserRecord = z.object({
  entity: z.literal("user"),
  id: z.string(),
  organizationId: z.string(),
  email: z.string(),
  /** Of a user whom release 0.2 wrote and who has not logged in since. */
  passwordHash: z.string().optional(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  createdAt: z.string(),
  role: Role.default("owner"),
  /** Since when the email is known to be theirs. */
  emailVerifiedAt: z.string().optional(),
  /** Since when log-ins need a second factor, which is apart. */
  secondFactorAt: z.string().optional(),
  /** Since when they are no member any more: what else there is of them is about to go too. */
  removedAt: z.string().optional(),
  /** How many API keys they have made. */
  apiKeysMade: z.int().optional(),
  /** ISO 8601: sessions that were issued before have ended. */
  sessionsValidFrom: z.string().optional(),
  /** Changes with the password: sessions that began with another version have ended. */
  passwordVersion: z.string().optional(),
  /** The one session of those that goes on: who has changed the password stays logged in. */
  keptSession: z.string().optional(),
  /** Sessions that were logged out one by one. */
  endedSessionIds: z.set(z.string()).optional(),
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

/** That a user is a member as before, in the role that was seen. */
export function asSeen({ role }: UserRecord): Requirements {
  // What an older release wrote has no role, which is an owner's.
  const isSame = role === "owner" ? "attribute_not_exists(#role) OR #role = :seen" : "#role = :seen";
  return { present: ["pk"], absent: ["removedAt"], where: isSame, values: { ":seen": role } };
}

/**
 * The write that notes that a user makes an API key of these scopes. It is refused once they are removed, or in a role that
 * may not have it: whoever changes that and then looks for the keys that they have made finds all of them.
 */
export function countKeyOfUser(userId: string, scopes: readonly Scope[] = allScopes): Update {
  const roles = Role.options
    .filter((role) => mayHave(role, scopes))
    .map((role, index) => [`:role${index}`, role] as const);
  return updateOf(
    keys.user(userId),
    { add: { apiKeysMade: 1 } },
    {
      present: ["pk"],
      absent: ["removedAt"],
      // What an older release wrote has no role, which is an owner's.
      where: `attribute_not_exists(#role) OR #role IN (${roles.map(([name]) => name).join(", ")})`,
      values: Object.fromEntries(roles),
    },
  );
}

/** Whether an API key of these scopes may be made by somebody in a role. */
export function mayHave(role: Role, scopes: readonly Scope[] = allScopes): boolean {
  return scopes.every((scope) => scopesOfRole[role].includes(scope));
}

export function presentUser(user: UserRecord): User {
  const { id, email, firstName, lastName, createdAt, secondFactorAt } = user;
  return { id, email, firstName, lastName, secondFactor: secondFactorAt !== undefined, createdAt };
}
