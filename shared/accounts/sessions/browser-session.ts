import { createHash, randomBytes } from "node:crypto";

import type { Actor } from "../../platform/auth/actor.ts";
import { hourMs, minuteMs, now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { findBoth, findItem } from "../../platform/table/read.ts";
import { deleteItem, updateItem, updateOf, type Write } from "../../platform/table/write.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";
import { endOf, isOver, putSession, SessionRecord, SessionUseRecord } from "./record.ts";

/*
 * The sessions of browsers. Requests renew a session until its latest end. Its cookie has a secret, of which the table has
 * only the hash. A restored table therefore has no session that its user cannot list and end.
 */

/** The longest life of a session. */
export const browserLifetimeMs = 12 * hourMs;

/** A use is noted when the last noted use is older than this. */
const noteEveryMs = 5 * minuteMs;

const secretBytes = 32;

/** Begins a session after a log-in. @returns also the value of its cookie */
export async function startBrowserSession(
  user: UserRecord,
  issuedAt: Date,
  userAgent: string | undefined,
): Promise<{ readonly sessionId: string; readonly cookie: string; readonly endsAt: Date }> {
  const id = newId("ses");
  const secret = newSecret();
  const expiresAt = new Date(issuedAt.getTime() + browserLifetimeMs);
  const session = { id, issuedAt, expiresAt, userAgent, secretHash: hashOf(secret) };
  const endsAt = endOf(await putSession(user, session));
  return { sessionId: id, cookie: `${user.id}.${id}.${secret}`, endsAt };
}

/** A new cookie of a session. */
export interface NewCookie {
  readonly cookie: string;
  readonly endsAt: Date;
  /** The write that replaces the secret, so that a copy of the old cookie ends. */
  readonly write: Write;
}

/** Makes a new secret for a session; undefined for a session with a token. */
export async function newCookieOf({ userId, credential }: Actor): Promise<NewCookie | undefined> {
  if (credential.type !== "session") return undefined;
  const { sessionId } = credential;
  const key = keys.session(userId, sessionId);
  const found = await findItem(SessionRecord, key, { consistent: true });
  if (found?.secretHash === undefined) return undefined;
  const { secretHash } = found;
  const secret = newSecret();
  return {
    cookie: `${userId}.${sessionId}.${secret}`,
    endsAt: endOf(found, now().toISOString()),
    write: updateOf(key, { set: { secretHash: hashOf(secret) } }, { is: { secretHash } }),
  };
}

function newSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/** The content of a cookie, with the hash of its secret. */
interface Shown {
  readonly userId: string;
  readonly sessionId: string;
  readonly secretHash: string;
}

function parse(cookie: string): Shown | undefined {
  const form = /^(usr_[0-9A-Z]{26})\.(ses_[0-9A-Z]{26})\.([\w-]{43})$/;
  const [, userId, sessionId, secret] = form.exec(cookie) ?? [];
  if (userId === undefined || sessionId === undefined || secret === undefined) return undefined;
  return { userId, sessionId, secretHash: hashOf(secret) };
}

/** Ends the session of a cookie, which a new log-in replaces. */
export async function endReplacedSession(cookie: string): Promise<void> {
  const shown = parse(cookie);
  if (shown === undefined) return;
  const { userId, sessionId, secretHash } = shown;
  await deleteItem(keys.session(userId, sessionId), { is: { secretHash } });
}

/** A session of a browser as a request finds it. */
export interface FoundSession {
  readonly record: SessionRecord;
  readonly lastUsedAt: string | undefined;
}

/** Finds the session of a cookie. */
export async function findBrowserSession(
  cookie: string,
): Promise<FoundSession | "expired" | "malformed" | "unknown"> {
  const shown = parse(cookie);
  if (shown === undefined) return "malformed";
  const { userId, sessionId, secretHash } = shown;
  const [record, use] = await findBoth(
    { schema: SessionRecord, key: keys.session(userId, sessionId) },
    { schema: SessionUseRecord, key: keys.sessionUse(userId, sessionId) },
  );
  if (record?.secretHash !== secretHash) return "unknown";
  const lastUsedAt = use?.lastUsedAt;
  return isOver(record, lastUsedAt) ? "expired" : { record, lastUsedAt };
}

/**
 * Notes the use of a session, which renews it. Errors are logged and fail nothing.
 * @returns when it ends without further requests
 */
export async function renew({ record, lastUsedAt = record.issuedAt }: FoundSession): Promise<Date> {
  const { id, userId, organizationId, expiresAt } = record;
  const at = now();
  const earliest = new Date(at.getTime() - noteEveryMs).toISOString();
  if (lastUsedAt > earliest) return endOf(record, lastUsedAt);
  const use: SessionUseRecord = { entity: "sessionUse", lastUsedAt: at.toISOString(), expiresAt };
  try {
    await updateItem(
      SessionUseRecord,
      updateOf(
        keys.sessionUse(userId, id),
        { set: use },
        { ifPresent: { atMost: { lastUsedAt: earliest } } },
      ),
      { bestEffort: true },
    );
  } catch (error) {
    log.warn("session.use_not_noted", { organizationId, userId, error });
    return endOf(record, lastUsedAt);
  }
  return endOf(record, use.lastUsedAt);
}

/** A secret is random enough that a plain SHA-256 of it cannot be reversed. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
