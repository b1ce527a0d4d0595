import { createHash, randomBytes } from "node:crypto";

import * as z from "zod/mini";

import { idSchema } from "../../api/contract/primitives.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { type Delete, putItem, deleteOf, putOf } from "../../platform/table/write.ts";

/*
 * The tokens in the links of emails. A token has one purpose and one user, works once, and expires soon. A newer token
 * for the same purpose replaces it. The table has only its hash.
 */

const lifetimesMs = { verify: dayMs, reset: 30 * minuteMs, invitation: 7 * dayMs };

/** The purpose of a link. */
export type TokenPurpose = keyof typeof lifetimesMs;

export const EmailTokenRecord = z.object({
  entity: z.literal("emailToken"),
  secretHash: z.string(),
  expiresAt: z.number(),
});
type EmailTokenRecord = z.infer<typeof EmailTokenRecord>;

/** The number of random bytes in a token. */
const secretBytes = 32;

/** Makes a token, which replaces the previous one for the same purpose and user. */
export async function newEmailToken(purpose: TokenPurpose, userId: string): Promise<string> {
  const secret = randomBytes(secretBytes).toString("base64url");
  const expiresAt = epochSeconds(new Date(now().getTime() + lifetimesMs[purpose]));
  const record: EmailTokenRecord = { entity: "emailToken", secretHash: hashOf(secret), expiresAt };
  await putItem(putOf(keys.emailToken(userId, purpose), record));
  return `${userId}.${secret}`;
}

/** A token that was valid when it was checked: its user, and the write that uses it up. */
export interface ShownToken {
  readonly userId: string;
  /** Belongs into the transaction of the action. It is rejected when the token was used or replaced meanwhile. */
  readonly use: Delete;
}

/** Finds a token for a purpose. Returns undefined when it is invalid, used, replaced or expired. */
export async function findEmailToken(purpose: TokenPurpose, token: string): Promise<ShownToken | undefined> {
  const [, userId = "", secret] = /^([^.]+)\.([\w-]{43})$/.exec(token) ?? [];
  if (secret === undefined || !idSchema("usr").safeParse(userId).success) return undefined;
  const key = keys.emailToken(userId, purpose);
  const secretHash = hashOf(secret);
  const record = await findItem(EmailTokenRecord, key, { consistent: true });
  // DynamoDB deletes expired items with a delay.
  if (record?.secretHash !== secretHash || record.expiresAt <= epochSeconds(now())) return undefined;
  return { userId, use: deleteOf(key, { is: { secretHash } }) };
}

/** Returns the keys of all tokens that a user may have. */
export function keysOfEmailTokens(userId: string): Key[] {
  return Object.keys(lifetimesMs).map((purpose) => keys.emailToken(userId, purpose));
}

/** A token is random enough that a plain SHA-256 of it cannot be reversed. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Returns how long a link is valid. */
export function lifetimeMsOf(purpose: TokenPurpose): number {
  return lifetimesMs[purpose];
}
