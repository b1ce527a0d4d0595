import type { ActiveSession } from "../../api/contract/accounts.ts";
import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { pageOf } from "../../platform/table/page.ts";
import { findItem, queryRows } from "../../platform/table/read.ts";
import { findUser } from "../../tenancy/users/record.ts";
import { browserLifetimeMs } from "./browser-session.ts";
import { endSession, sessionOf } from "./logout.ts";
import { claimsOf, endOf, isOpen, isOver, SessionRecord, SessionUseRecord } from "./record.ts";

/** The most sessions that the list reads, and so shows: a log-in every five seconds of their longest life. */
const maxListed = 10_000;

/**
 * Returns the open sessions of the caller's user, newest first.
 * @throws ApiError UNAUTHORIZED when the user no longer exists
 */
export async function listSessions(actor: Actor, query: PageQuery): Promise<Page<ActiveSession>> {
  const { userId } = actor;
  const from = firstIdAt("ses", new Date(now().getTime() - browserLifetimeMs));
  const range = { from, limit: maxListed, newestFirst: true, consistent: true };
  const [user, sessions, uses] = await Promise.all([
    findUser(userId, { consistent: true }),
    queryRows(SessionRecord, { pk: keys.session(userId, "").pk, ...range }),
    queryRows(SessionUseRecord, { pk: keys.sessionUse(userId, "").pk, ...range }),
  ]);
  if (user === undefined) throw new ApiError("UNAUTHORIZED");
  const lastUses = new Map(uses.map(({ key, item }) => [key.sk, item?.lastUsedAt]));
  const open = sessions.flatMap(({ item }) => {
    if (item === undefined || !isOpen(claimsOf(item), user)) return [];
    const { id, secretHash, userAgent, issuedAt: createdAt } = item;
    const lastUsedAt = secretHash === undefined ? undefined : (lastUses.get(id) ?? createdAt);
    if (isOver(item, lastUsedAt)) return [];
    const expiresAt = endOf(item, lastUsedAt).toISOString();
    const isCurrent = id === sessionOf(actor);
    return { id, userAgent, createdAt, lastUsedAt, expiresAt, ...(isCurrent && { current: true as const }) };
  });
  return pageOf(open, query);
}

/**
 * Ends a session of the caller's user.
 * @throws ApiError NOT_FOUND, also for a session of another user. UNAVAILABLE
 */
export async function deleteSession(
  { userId }: Actor,
  sessionId: string,
): Promise<{ id: string; deleted: true }> {
  orNotFound(await findItem(SessionRecord, keys.session(userId, sessionId), { consistent: true }));
  await endSession(userId, sessionId);
  return { id: sessionId, deleted: true };
}
