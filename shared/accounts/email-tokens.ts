import { createHash, randomBytes } from "node:crypto";

import * as z from "zod/mini";

import { idSchema } from "../contract/primitives.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { findItem, putItem, type Delete } from "../platform/table/table.ts";

/*
 * The tokens in the links that are sent by email. One is for one purpose and one user, works once and not for long, and
 * ends when a newer one is made. The table has its hash.
 */

const lifetimesMs = { verify: dayMs, reset: 30 * minuteMs, invitation: 7 * dayMs };

/** What a link is for. */
export type TokenPurpose = keyof typeof lifetimesMs;

const EmailTokenRecord = z.object({
  entity: z.literal("emailToken"),
  secretHash: z.string(),
  expiresAt: z.number(),
});
type EmailTokenRecord = z.infer<typeof EmailTokenRecord>;

/** How many random bytes there are in a token. */
const secretBytes = 32;

/** Makes a token, which ends the one that was made before it for the same purpose and user. */
export async function newEmailToken(purpose: TokenPurpose, userId: string): Promise<string> {
  const secret = randomBytes(secretBytes).toString("base64url");
  const expiresAt = epochSeconds(new Date(now().getTime() + lifetimesMs[purpose]));
  const record: EmailTokenRecord = { entity: "emailToken", secretHash: hashOf(secret), expiresAt };
  await putItem({ put: { ...keys.emailToken(userId, purpose), ...record } });
  return `${userId}.${secret}`;
}

/** A token that was good a moment ago: whose it is, and the write that uses it up. */
export interface ShownToken {
  readonly userId: string;
  /** Refused when it has been used meanwhile, or a newer one was made. It belongs into the transaction of the deed. */
  readonly use: Delete;
}

/** Finds a token for a purpose; undefined when it is none, was used or replaced, or its time is over. */
export async function findEmailToken(purpose: TokenPurpose, token: string): Promise<ShownToken | undefined> {
  const [, userId = "", secret] = /^([^.]+)\.([\w-]{43})$/.exec(token) ?? [];
  if (secret === undefined || !idSchema("usr").safeParse(userId).success) return undefined;
  const key = keys.emailToken(userId, purpose);
  const secretHash = hashOf(secret);
  const record = await findItem(EmailTokenRecord, key, { consistent: true });
  // DynamoDB deletes what has expired when it comes to it.
  if (record?.secretHash !== secretHash || record.expiresAt <= epochSeconds(now())) return undefined;
  const use = { delete: key, condition: "secretHash = :secretHash", values: { ":secretHash": secretHash } };
  return { userId, use };
}

/** The keys of all tokens that a user may have. */
export function keysOfEmailTokens(userId: string): Key[] {
  return Object.keys(lifetimesMs).map((purpose) => keys.emailToken(userId, purpose));
}

/** A token is random enough that a plain SHA-256 of it cannot be reversed. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** How long a link is good for. */
export function lifetimeMsOf(purpose: TokenPurpose): number {
  return lifetimesMs[purpose];
}
