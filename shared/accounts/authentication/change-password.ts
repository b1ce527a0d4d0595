import type { ChangePasswordRequest } from "../../api/contract/accounts.ts";
import { invalidField } from "../../api/contract/errors.ts";
import { emailJob, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { transact } from "../../platform/table/transact.ts";
import { nameOfKeptSession } from "../../tenancy/users/record.ts";
import { requireUncommonPassword } from "../passwords/common-passwords.ts";
import { hashPassword } from "../passwords/hash.ts";
import { replacePassword } from "../passwords/record.ts";
import { checkPassword, wrongPassword } from "../passwords/tries.ts";
import { findSecondFactor } from "../second-factor/record.ts";
import { requireSecondFactor } from "../second-factor/second-factor.ts";
import { newCookieOf, type NewCookie } from "../sessions/browser-session.ts";
import { sessionOf } from "../sessions/logout.ts";

/**
 * Replaces the password of a session's user, who knows the current one and gives a code where they have a second factor. Ends
 * their other sessions, and copies of the cookie. Wrong passwords and codes count together with those of log-ins.
 * @throws ApiError INVALID_CREDENTIALS, SECOND_FACTOR_REQUIRED, INVALID_SECOND_FACTOR, RATE_LIMITED. VALIDATION_ERROR for a
 *   password that the stage or bcrypt does not accept. UNAUTHORIZED when the user no longer exists. UNAVAILABLE
 * @returns the new cookie of the session, if it has one
 */
export async function changePassword(
  actor: Actor,
  { currentPassword, newPassword, code }: ChangePasswordRequest,
  sourceIp: string,
): Promise<NewCookie | undefined> {
  const { userId, organizationId } = actor;
  const { user, passwordHash: seen } = await checkPassword(actor, currentPassword, sourceIp);
  if (newPassword === currentPassword)
    throw invalidField("newPassword", "must differ from the current password");
  await requireUncommonPassword(newPassword, user.email, "newPassword");
  // After the other checks, because a code is valid once.
  await requireSecondFactor(user, await findSecondFactor(userId), code, sourceIp);
  const passwordHash = await hashPassword(newPassword, "newPassword");
  const { sessionsValidFrom: before = "" } = user;
  const at = now().toISOString();
  const sessionsValidFrom = at > before ? at : before;
  const set = { sessionsValidFrom, keptSession: nameOfKeptSession(sessionOf(actor), sessionsValidFrom) };
  const email = emailJob(organizationId, { kind: "passwordChanged", userId, wasUnverified: false });
  const sendsEmails = config.emailFrom() !== undefined;
  // Otherwise a crash after the change would leave a copy of the cookie.
  const replaced = await newCookieOf(actor);
  const changed = await transact({
    password: replacePassword(userId, passwordHash, { set, remove: ["endedSessionIds"] }, seen),
    email: sendsEmails ? owedEmail(email) : [],
    session: replaced?.write ?? [],
  });
  // Another call replaced the password meanwhile. It may be the owner, who locks out anyone who knew the old password.
  if (changed.outcome === "rejected") throw wrongPassword();
  if (sendsEmails) await queueOwedEmail(email);
  return replaced;
}
