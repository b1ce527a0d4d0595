import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Put, type Write } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import type { UserRecord } from "./user-record.ts";

/*
 * The hashes of passwords. They are apart from the users, whom every function reads that lets a call in: only what makes,
 * checks or replaces a password may touch them.
 */

const PasswordRecord = z.object({
  entity: z.literal("password"),
  passwordHash: z.string(),
  createdAt: z.string(),
});
type PasswordRecord = z.infer<typeof PasswordRecord>;

/** The write that keeps the hash of a user's first password. It belongs into the transaction that makes the user. */
export function putFirstPassword(userId: string, passwordHash: string): Put {
  return { ...putPassword(userId, passwordHash), condition: "attribute_not_exists(pk)" };
}

/**
 * The hash of a user's password, as it is now.
 * @param user read before; without one the same work is done, so that the time tells nothing about the account
 */
export async function findPasswordHash(
  user: Pick<UserRecord, "id"> | undefined,
): Promise<string | undefined> {
  const record = await findItem(PasswordRecord, keys.password(user?.id ?? "nobody"), { consistent: true });
  return record?.passwordHash;
}

/**
 * The writes that replace the hash of a user's password. They are rejected when the user is gone. Sessions that began with the replaced password end, whenever they were issued.
 * @param changes what else changes in the user's record, which no other write of the same transaction may touch
 * @param seen the only hash that is replaced, where it must not be another
 */
export function replacePassword(
  userId: string,
  passwordHash: string,
  changes: Changes,
  seen?: string,
): Write[] {
  const set = { ...changes.set, passwordVersion: randomUUID() };
  const onlySeen = { condition: "passwordHash = :seen", values: { ":seen": seen } };
  return [
    { ...putPassword(userId, passwordHash), ...(seen === undefined ? {} : onlySeen) },
    updateOf(keys.user(userId), { ...changes, set }, { present: ["pk"] }),
  ];
}

function putPassword(userId: string, passwordHash: string): Put {
  const record: PasswordRecord = { entity: "password", passwordHash, createdAt: now().toISOString() };
  return { put: { ...keys.password(userId), ...record } };
}
