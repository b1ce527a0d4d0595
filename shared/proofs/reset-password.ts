import { listVerified, verifiedSince } from "../accounts/organizations/verification.ts";
import { requireUncommonPassword } from "../accounts/passwords/common-passwords.ts";
import { hashPassword } from "../accounts/passwords/hash.ts";
import { replacePassword } from "../accounts/passwords/record.ts";
import { endAllSessions } from "../accounts/users/record.ts";
import type { ChangedPassword, ResetPasswordRequest } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { emailJob, owedEmail } from "../emails/email-job.ts";
import { queueOwedEmail } from "../emails/queue-email.ts";
import { auditEntry } from "../platform/audit-log.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { transact } from "../platform/table/transact.ts";
import { endUnproven, readProof } from "./first-proof.ts";

/**
 * Sets a new password for a user who has opened the link in an email, and ends all their sessions. The link proves that
 * the email belongs to the user. Before the first proof a stranger may have registered with it, so all that was created
 * until then is removed, even the second factor.
 * @throws ApiError INVALID_EMAIL_TOKEN; VALIDATION_ERROR for a password that the stage or bcrypt does not accept;
 *   UNAVAILABLE
 */
export async function resetPassword(
  { token, password }: ResetPasswordRequest,
  sourceIp: string,
): Promise<ChangedPassword> {
  const { use, user, isFirst } = await readProof("reset", token);
  await requireUncommonPassword(password, user.email);
  const passwordHash = await hashPassword(password);
  // This comes before the link is used, so that it can be opened again if this fails.
  if (isFirst) await endUnproven(user);
  const { id: userId, organizationId } = user;
  const at = now().toISOString();
  const { set, remove } = endAllSessions(user, at);
  const email = emailJob(organizationId, { kind: "passwordChanged", userId, wasUnverified: isFirst });
  const { outcome } = await transact({
    use,
    password: replacePassword(userId, passwordHash, {
      ...verifiedSince(at),
      set,
      remove: isFirst ? [...remove, "secondFactorAt"] : remove,
    }),
    secondFactor: isFirst ? { delete: keys.secondFactor(userId) } : [],
    rights: listVerified(user),
    audit: auditEntry({
      organizationId,
      actor: { type: "user", userId },
      action: "POST /v1/auth/password-reset",
      sourceAddress: sourceIp,
      ending: { outcome: "done" },
    }),
    email: owedEmail(email),
  });
  if (outcome === "rejected") throw new ApiError("INVALID_EMAIL_TOKEN");
  await Promise.all([
    queueOwedEmail(email),
    // The stranger may have created more before the sessions ended.
    ...(isFirst ? [endUnproven(user)] : []),
  ]);
  return { changed: true };
}
