import type { ChangedPassword, ResetPasswordRequest } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { emailJob, owedEmail } from "../emails/email-job.ts";
import { queueOwedEmail } from "../emails/queue-email.ts";
import { auditEntry } from "../platform/audit-log.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { transact } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { requireUncommonPassword } from "./common-passwords.ts";
import { findEmailToken } from "./email-tokens.ts";
import { endApiKeysOf } from "./end-api-keys.ts";
import { findOrganization } from "./organization-record.ts";
import { replacePassword } from "./password-record.ts";
import { hashPassword } from "./passwords.ts";
import { findUser, type UserRecord } from "./user-record.ts";

/**
 * Sets a new password for whoever has opened the link that was sent to their email, and ends all of their sessions. That
 * shows that the email is theirs. Where nobody had shown it before, a stranger may have registered with it, and the API
 * keys that were made until then are revoked.
 * @throws ApiError INVALID_EMAIL_TOKEN; VALIDATION_ERROR for a password that the stage, or bcrypt, does not take; UNAVAILABLE
 */
export async function resetPassword(
  { token, password }: ResetPasswordRequest,
  sourceIp: string,
): Promise<ChangedPassword> {
  const shown = await findEmailToken("reset", token);
  const user = shown && (await findUser(shown.userId, { consistent: true }));
  if (shown === undefined || user === undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
  requireUncommonPassword(password, user.email);
  const passwordHash = await hashPassword(password);
  const wasUnverified = !(await isVerified(user));
  // Before the link is used up, so that it can be opened once more if this does not come to its end.
  if (wasUnverified) await endApiKeysOf(user);
  const { id: userId, organizationId, role, sessionsValidFrom = "" } = user;
  const at = now().toISOString();
  const verified = { setIfAbsent: { emailVerifiedAt: at } };
  const email = emailJob(organizationId, { kind: "passwordChanged", userId, wasUnverified });
  const { outcome } = await transact([
    shown.use,
    ...replacePassword(userId, passwordHash, {
      ...verified,
      set: { sessionsValidFrom: at > sessionsValidFrom ? at : sessionsValidFrom },
      remove: ["endedSessionIds", "keptSession"],
    }),
    ...(role === "owner" ? [updateOf(keys.organization(organizationId), verified, { present: ["pk"] })] : []),
    auditEntry({
      organizationId,
      actor: { type: "user", userId },
      action: "POST /v1/auth/password-reset",
      sourceAddress: sourceIp,
      ending: { outcome: "done" },
    }),
    owedEmail(email),
  ]);
  if (outcome === "refused") throw new ApiError("INVALID_EMAIL_TOKEN");
  await Promise.all([
    queueOwedEmail(email),
    // Until its sessions ended, the stranger may have made others.
    ...(wasUnverified ? [endApiKeysOf(user)] : []),
  ]);
  return { changed: true };
}

/** Whether anybody has shown before that the email is theirs, to us or to the operator. */
async function isVerified({ emailVerifiedAt, role, organizationId }: UserRecord): Promise<boolean> {
  if (emailVerifiedAt !== undefined) return true;
  if (role !== "owner") return false;
  return (await findOrganization(organizationId, { consistent: true }))?.emailVerifiedAt !== undefined;
}
