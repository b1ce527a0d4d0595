import * as z from "zod/mini";

import type { Reauthenticated, ReauthenticateRequest } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { recentMs } from "../../platform/auth/recent-proof.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { requirePassword } from "../passwords/tries.ts";
import { findSecondFactor } from "../second-factor/record.ts";
import { requireSecondFactor } from "../second-factor/second-factor.ts";
import { sessionOf } from "../sessions/logout.ts";

/**
 * Checks the password of a session's user again, and a code where they have a second factor. Wrong ones count together
 * with those of log-ins.
 * @throws ApiError INVALID_CREDENTIALS, SECOND_FACTOR_REQUIRED, INVALID_SECOND_FACTOR, RATE_LIMITED. UNAUTHORIZED
 *   when the user no longer exists. UNAVAILABLE
 */
export async function reauthenticate(
  actor: Actor,
  { password, code }: ReauthenticateRequest,
  sourceIp: string,
): Promise<Reauthenticated> {
  const at = now();
  const user = await requirePassword(actor, password, sourceIp);
  await requireSecondFactor(user, await findSecondFactor(user.id), code, sourceIp);
  const reauthenticated = { sessionId: sessionOf(actor), at: at.toISOString() };
  const noted = await updateItem(
    z.unknown(),
    updateOf(keys.user(user.id), { set: { reauthenticated } }, { present: ["pk"], absent: ["removedAt"] }),
  );
  if (!noted.applied) throw new ApiError("UNAUTHORIZED");
  return { reauthenticated: true, validUntil: new Date(at.getTime() + recentMs).toISOString() };
}
