import type { LoggedOut } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { sessionLifetimeMs } from "../platform/auth/session-token.ts";
import { now } from "../platform/clock.ts";
import { momentOf } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { untilUndisturbed, updateItem, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { UserRecord } from "./user-record.ts";

/** Sessions that one user may end one by one within the life of a session: they stand in the user's item. */
export const maxEndedSessions = 100;

/**
 * Ends the session of a call; others of the same user go on.
 * @throws ApiError UNAVAILABLE
 */
export async function logout(actor: Actor): Promise<LoggedOut> {
  const sessionId = sessionOf(actor);
  return untilUndisturbed(async () => {
    const ended = await updateItem(
      UserRecord,
      updateOf(
        keys.user(actor.userId),
        { add: { endedSessionIds: new Set([sessionId]) } },
        {
          present: ["pk"],
          where: "attribute_not_exists(#endedSessionIds) OR size(#endedSessionIds) < :max",
          values: { ":max": maxEndedSessions },
        },
      ),
    );
    // Where there is no user any more, there are no sessions either.
    if (ended.applied || ended.found === undefined) return { loggedOut: true };
    await makeRoom(UserRecord.parse(ended.found));
    return undefined;
  });
}

/**
 * Ends all sessions of a user, that of the call among them.
 * @throws ApiError UNAVAILABLE
 */
export async function logoutEverywhere(actor: Actor): Promise<LoggedOut> {
  // The clock of the function that issued the session may be ahead of this one.
  const lastMs = Math.max(now().getTime(), momentOf(sessionOf(actor)).getTime());
  await updateItem(
    UserRecord,
    endSessionsBefore(actor.userId, new Date(lastMs + 1), { remove: ["endedSessionIds", "keptSession"] }),
  );
  return { loggedOut: true };
}

/** The session of a call on a route that lets nobody else in. */
export function sessionOf({ credential }: Actor): string {
  if (credential.type !== "session") throw new ApiError("INSUFFICIENT_SCOPE");
  return credential.sessionId;
}

/**
 * Takes those off the list that have run out, and at least the oldest. None of them comes back, for all that were issued
 * up to the last of these count as ended from then on: with the oldest those that are older still.
 */
async function makeRoom({ id, endedSessionIds = new Set(), sessionsValidFrom }: UserRecord): Promise<void> {
  const moments = [...endedSessionIds].map((sessionId) => momentOf(sessionId).getTime());
  const line = Math.max(
    Math.min(...moments) + 1,
    now().getTime() - sessionLifetimeMs,
    sessionsValidFrom === undefined ? 0 : Date.parse(sessionsValidFrom),
  );
  const behindLine = [...endedSessionIds].filter((sessionId) => momentOf(sessionId).getTime() < line);
  await updateItem(
    UserRecord,
    // Were the session that outlived a change of the password on the list, it would come back.
    endSessionsBefore(id, new Date(line), {
      remove: ["keptSession"],
      take: { endedSessionIds: new Set(behindLine) },
    }),
  );
}

/** Does nothing where a later moment counts already. */
function endSessionsBefore(
  userId: string,
  moment: Date,
  changes: { readonly remove?: readonly string[]; readonly take?: Readonly<Record<string, unknown>> },
): Update {
  return updateOf(
    keys.user(userId),
    { set: { sessionsValidFrom: moment.toISOString() }, ...changes },
    {
      present: ["pk"],
      where: "attribute_not_exists(#sessionsValidFrom) OR #sessionsValidFrom <= :sessionsValidFrom",
    },
  );
}
