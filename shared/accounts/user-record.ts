import * as z from "zod";

import type { User } from "../contract/accounts.ts";
import { Role } from "../contract/scopes.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/table.ts";

export const UserRecord = z.object({
  entity: z.literal("user"),
  id: z.string(),
  organizationId: z.string(),
  email: z.string(),
  passwordHash: z.string(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  createdAt: z.string(),
  role: Role.default("owner"),
  /** ISO 8601: sessions that were issued before have ended. */
  sessionsValidFrom: z.string().optional(),
  /** Sessions that were logged out one by one. */
  endedSessionIds: z.set(z.string()).optional(),
});
export type UserRecord = z.infer<typeof UserRecord>;

/** The item that a user is found by; it keeps emails unique. */
export const EmailRecord = z.object({ entity: z.literal("email"), userId: z.string() });
export type EmailRecord = z.infer<typeof EmailRecord>;

export async function findUser(userId: string): Promise<UserRecord | undefined> {
  return findItem(UserRecord, keys.user(userId));
}

/** The user who owns an email, as they are now. */
export async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await findItem(EmailRecord, keys.email(email), { consistent: true });
  // An unknown email costs a read too, or the time would tell it apart.
  return findItem(UserRecord, keys.user(owner?.userId ?? "nobody"), { consistent: true });
}

export function presentUser({ id, email, firstName, lastName, createdAt }: UserRecord): User {
  return { id, email, firstName, lastName, createdAt };
}
