import type { LoggedOut } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { owedStop } from "../../notices/emails/email-job.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { sessionLifetimeMs } from "../../platform/auth/session-token.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { momentOf } from "../../platform/ids.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { queryItems } from "../../platform/table/read.ts";
import { type Step, transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { deleteItem, type Update, updateItem, updateOf } from "../../platform/table/write.ts";
import { UserRecord } from "../../tenancy/users/record.ts";
import { SessionRecord } from "./record.ts";

/** The maximum number of ended sessions in the user's item, within the life of a session. */
export const maxEndedSessions = 100;

/** The clocks of functions differ by less. */
const clockSkewMs = 5 * minuteMs;

/**
 * Ends the session of a call. Other sessions of the user continue.
 * @throws ApiError UNAVAILABLE
 */
export async function logout(actor: Actor): Promise<LoggedOut> {
  await endSession(actor.userId, sessionOf(actor));
  return { loggedOut: true };
}

/**
 * Ends a session. That of a browser ends with its record, that of a token when the user's item names it.
 * @throws ApiError UNAVAILABLE
 */
export async function endSession(userId: string, sessionId: string): Promise<void> {
  const key = keys.session(userId, sessionId);
  const ofBrowser = await deleteItem(key, { present: ["secretHash"] });
  if (ofBrowser.applied) return;
  await untilUndisturbed(async (): Promise<Step> => {
    const ended = await updateItem(
      UserRecord,
      updateOf(
        keys.user(userId),
        { add: { endedSessionIds: new Set([sessionId]) } },
        { present: ["pk"], ifPresent: { sizeBelow: { endedSessionIds: maxEndedSessions } } },
      ),
    );
    // A deleted user has no sessions.
    if (ended.applied || ended.found === undefined) return "applied";
    await makeRoom(UserRecord.parse(ended.found));
    return "disturbed";
  });
  await deleteItem(key);
}

/**
 * Ends all sessions of a user, including the calling one.
 * @throws ApiError UNAVAILABLE
 */
export async function logoutEverywhere(actor: Actor): Promise<LoggedOut> {
  // The clock of the function that issued the session may be ahead of this one.
  const lastMs = Math.max(now().getTime(), momentOf(sessionOf(actor)).getTime());
  await updateItem(UserRecord, endAllUntil(actor.userId, lastMs));
  return { loggedOut: true };
}

/** Ends all sessions of a user for an operator, whose clock may be slow. The user gets an email within twenty minutes. */
export async function endSessionsOf({ id: userId, organizationId }: UserRecord): Promise<void> {
  const { pk } = keys.session(userId, "");
  const [newest] = await queryItems(SessionRecord, { pk, newestFirst: true, limit: 1, consistent: true });
  const lastMs = Math.max(now().getTime(), newest === undefined ? 0 : momentOf(newest.id).getTime());
  const notice = owedStop(organizationId, "sessions", userId);
  await transact({ user: endAllUntil(userId, lastMs), notice });
}

function endAllUntil(userId: string, lastMs: number): Update<"user"> {
  return endSessionsBefore(userId, new Date(lastMs + 1), { remove: ["endedSessionIds", "keptSession"] });
}

/** Returns the id of the calling session, on a route that accepts only sessions. */
export function sessionOf({ credential }: Actor): string {
  if (credential.type !== "session") throw new ApiError("INSUFFICIENT_SCOPE");
  return credential.sessionId;
}

/**
 * Removes from the list the sessions whose tokens have expired. If there is none, it removes the oldest one. All sessions up
 * to that one count as ended from then on, so that it does not become valid again.
 */
async function makeRoom({ id, endedSessionIds = new Set(), sessionsValidFrom }: UserRecord): Promise<void> {
  const moments = [...endedSessionIds].map((sessionId) => momentOf(sessionId).getTime());
  const expiredBefore = now().getTime() - sessionLifetimeMs - clockSkewMs;
  const expired = [...endedSessionIds].filter((each) => momentOf(each).getTime() < expiredBefore);
  if (expired.length > 0) {
    const take = { endedSessionIds: new Set(expired) };
    await updateItem(UserRecord, updateOf(keys.user(id), { take }, { present: ["pk"] }));
    return;
  }
  const line = Math.max(
    Math.min(...moments) + 1,
    sessionsValidFrom === undefined ? 0 : Date.parse(sessionsValidFrom),
  );
  const behindLine = [...endedSessionIds].filter((sessionId) => momentOf(sessionId).getTime() < line);
  await updateItem(
    UserRecord,
    // If the session that outlived a change of the password were on the list, it would become valid again.
    endSessionsBefore(id, new Date(line), {
      remove: ["keptSession"],
      take: { endedSessionIds: new Set(behindLine) },
    }),
  );
}

/** Returns the write that ends all sessions before a moment. It is rejected when a later moment is stored. */
function endSessionsBefore(
  userId: string,
  moment: Date,
  changes: Pick<Changes<"user">, "remove" | "take">,
): Update<"user"> {
  const set = { sessionsValidFrom: moment.toISOString() };
  return updateOf(keys.user(userId), { set, ...changes }, { present: ["pk"], ifPresent: { atMost: set } });
}
