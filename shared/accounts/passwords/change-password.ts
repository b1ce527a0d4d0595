import type { ChangedPassword, ChangePasswordRequest } from "../../contract/accounts.ts";
import { invalidField } from "../../contract/errors.ts";
import { emailJob, owedEmail } from "../../emails/email-job.ts";
import { queueOwedEmail } from "../../emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { transact } from "../../platform/table/transact.ts";
import { sessionOf } from "../sessions/logout.ts";
import { nameOfKeptSession } from "../users/record.ts";
import { requireUncommonPassword } from "./common-passwords.ts";
import { hashPassword } from "./hash.ts";
import { replacePassword } from "./record.ts";
import { checkPassword, wrongPassword } from "./tries.ts";

/**
 * Replaces the password of a session's user, who knows the current one, and ends their other sessions. Wrong passwords
 * count together with those of log-ins.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED. VALIDATION_ERROR for a password that the stage or bcrypt does
 *   not accept. UNAUTHORIZED when the user no longer exists. UNAVAILABLE
 */
export async function changePassword(
  actor: Actor,
  { currentPassword, newPassword }: ChangePasswordRequest,
  sourceIp: string,
): Promise<ChangedPassword> {
  const { userId, organizationId } = actor;
  const { user, passwordHash: seen } = await checkPassword(actor, currentPassword, sourceIp);
  if (newPassword === currentPassword)
    throw invalidField("newPassword", "must differ from the current password");
  await requireUncommonPassword(newPassword, user.email, "newPassword");
  const passwordHash = await hashPassword(newPassword, "newPassword");
  const { sessionsValidFrom: before = "" } = user;
  const at = now().toISOString();
  const sessionsValidFrom = at > before ? at : before;
  const set = { sessionsValidFrom, keptSession: nameOfKeptSession(sessionOf(actor), sessionsValidFrom) };
  const email = emailJob(organizationId, { kind: "passwordChanged", userId, wasUnverified: false });
  const sendsEmails = config.emailFrom() !== undefined;
  const changed = await transact({
    password: replacePassword(userId, passwordHash, { set, remove: ["endedSessionIds"] }, seen),
    email: sendsEmails ? owedEmail(email) : [],
  });
  // Another call replaced the password meanwhile. It may be the owner, who locks out anyone who knew the old password.
  if (changed.outcome === "rejected") throw wrongPassword();
  if (sendsEmails) await queueOwedEmail(email);
  return { changed: true };
}
