import { beforeEach, expect, it, vi } from "vitest";

import { logout, logoutEverywhere, maxEndedSessions } from "../../shared/accounts/sessions/logout.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { momentOf, newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, updateItem, updateOf, putOf } from "../../shared/platform/table/write.ts";
import { findUser, nameOfKeptSession, UserRecord } from "../../shared/tenancy/users/record.ts";

const start = new Date("2030-06-01T12:00:00Z");
let userId: string;

beforeEach(async () => {
  vi.setSystemTime(start);
  userId = newId("usr");
  const user: UserRecord = {
    entity: "user",
    id: userId,
    organizationId: newId("org"),
    email: `${userId}@example.com`,
    createdAt: start.toISOString(),
  };
  await putItem(putOf(keys.user(userId), user));
});

/** A session that begins now, a second before the next one. */
function newSession(): Actor & { readonly credential: { readonly type: "session" } } {
  const sessionId = newId("ses");
  vi.setSystemTime(Date.now() + secondMs);
  return { organizationId: newId("org"), userId, credential: { type: "session", sessionId }, scopes: [] };
}

/** The number of ended sessions in the user's record, and the indexes of the sessions that are still open. */
async function lookAt(
  sessions: readonly ReturnType<typeof newSession>[],
): Promise<{ readonly named: number; readonly open: number[] }> {
  const { endedSessionIds = new Set(), sessionsValidFrom = "" } = (await findUser(userId)) ?? {};
  const open = [...sessions.entries()]
    .filter(([, { credential }]) => !endedSessionIds.has(credential.sessionId))
    .filter(([, { credential }]) => momentOf(credential.sessionId).toISOString() >= sessionsValidFrom)
    .map(([index]) => index);
  return { named: endedSessionIds.size, open };
}

it("as many sessions end one by one as the record can hold, and no other", async () => {
  const sessions = Array.from({ length: maxEndedSessions + 2 }, newSession);
  await Promise.all(sessions.slice(1, -1).map(logout));
  expect(await lookAt(sessions)).toEqual({ named: maxEndedSessions, open: [0, maxEndedSessions + 1] });
});

it("beyond that number ended sessions stay ended, and of the others the younger ones continue", async () => {
  const sessions = Array.from({ length: maxEndedSessions + 4 }, newSession);
  // The first session is older than all that end.
  await Promise.all(sessions.slice(1, -2).map(logout));
  expect(await lookAt(sessions)).toEqual({
    named: maxEndedSessions,
    open: [maxEndedSessions + 2, maxEndedSessions + 3],
  });
});

it("expired sessions make space without ending any other", async () => {
  const old = Array.from({ length: maxEndedSessions }, newSession);
  await Promise.all(old.map(logout));
  // Their tokens have expired, also by a slow clock.
  vi.setSystemTime(Date.now() + hourMs + 6 * minuteMs);
  const sessions = [newSession(), newSession()];
  await logout(sessions[1] ?? newSession());
  expect(await lookAt(sessions)).toEqual({ named: 1, open: [0] });
});

it("all sessions end together, also by a slow clock", async () => {
  const sessions = Array.from({ length: 3 }, newSession);
  await logout(sessions[0] ?? newSession());
  const last = newSession();
  vi.setSystemTime(momentOf(last.credential.sessionId).getTime() - secondMs);
  await logoutEverywhere(last);
  expect(await lookAt([...sessions, last])).toEqual({ named: 0, open: [] });
  vi.setSystemTime(Date.now() + 2 * secondMs);
  expect((await lookAt([newSession()])).open).toEqual([0]);
});

it("an end of all sessions is not undone by an earlier one that arrives late", async () => {
  const late = newSession();
  const sessions = [newSession(), newSession()];
  await logoutEverywhere(sessions[1] ?? late);
  vi.setSystemTime(momentOf(late.credential.sessionId));
  await logoutEverywhere(late);
  expect((await lookAt(sessions)).open).toEqual([]);
});

it("a session that survived a password change, and then ended, does not return to make space", async () => {
  const kept = newSession();
  const sessionsValidFrom = new Date().toISOString();
  const keptSession = nameOfKeptSession(kept.credential.sessionId, sessionsValidFrom);
  const changed = updateOf(keys.user(userId), { set: { sessionsValidFrom, keptSession } });
  expect(await updateItem(UserRecord, changed)).toMatchObject({ applied: true });
  await logout(kept);
  // The clock stands still, so that the time before which all sessions ended stays the same.
  const others = Array.from({ length: maxEndedSessions }, newSession);
  vi.setSystemTime(new Date(sessionsValidFrom));
  for (const other of others) await logout(other);
  const user = await findUser(userId);
  expect(user?.endedSessionIds?.has(kept.credential.sessionId)).toBe(false);
  expect(user?.keptSession).toBeUndefined();
});
