import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { insertOf, putOf, type Put, updateOf, type Write } from "../../platform/table/write.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";

/*
 * The hashes of passwords. They are not in the users' items, which every function that checks a credential reads. Only
 * functions that set or check a password may access them.
 */

export const PasswordRecord = z.object({
  entity: z.literal("password"),
  passwordHash: z.string(),
  createdAt: z.string(),
});
type PasswordRecord = z.infer<typeof PasswordRecord>;

/** Returns the write that stores the hash of a user's first password, for the transaction that makes the user. */
export function putFirstPassword(userId: string, passwordHash: string): Put {
  return insertOf(keys.password(userId), recordOf(passwordHash));
}

/**
 * Finds the hash of a user's password. The read is consistent.
 * @param user without a user, the same work is done, so that the time shows nothing about the account
 */
export async function findPasswordHash(
  user: Pick<UserRecord, "id"> | undefined,
): Promise<string | undefined> {
  const record = await findItem(PasswordRecord, keys.password(user?.id ?? "missing"), { consistent: true });
  return record?.passwordHash;
}

/**
 * Returns the writes that replace the hash of a user's password. They are rejected when the user was removed. Sessions
 * that began with the replaced password end, whenever they were issued.
 * @param changes other changes of the user's record, which no other write of the transaction may touch
 * @param seen the only hash that may be replaced, if given
 */
export function replacePassword(
  userId: string,
  passwordHash: string,
  changes: Changes<"user">,
  seen?: string,
): Write[] {
  const set = { ...changes.set, passwordVersion: randomUUID() };
  return [
    putOf(
      keys.password(userId),
      recordOf(passwordHash),
      seen === undefined ? {} : { is: { passwordHash: seen } },
    ),
    updateOf(keys.user(userId), { ...changes, set }, { present: ["pk"] }),
  ];
}

function recordOf(passwordHash: string): PasswordRecord {
  return { entity: "password", passwordHash, createdAt: now().toISOString() };
}
