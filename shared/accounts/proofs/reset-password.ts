import type { ChangedPassword, ResetPasswordRequest } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { emailJob, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { networkOf } from "../../platform/source-network.ts";
import { entryOfUser } from "../../platform/table/audit-log.ts";
import { transact } from "../../platform/table/transact.ts";
import { requireUncommonPassword } from "../passwords/common-passwords.ts";
import { hashPassword } from "../passwords/hash.ts";
import { rememberNetwork } from "../passwords/known-networks.ts";
import { accountAfterReset, endUnproven } from "./first-proof.ts";
import { readProof } from "./proof.ts";

/**
 * Sets a new password for a user who has opened the link in an email, and ends all their sessions. The link proves that
 * the email belongs to the user. Before the first proof a stranger may have registered with it. So an owner gets a new
 * account, and another member loses the credentials of before.
 * @throws ApiError INVALID_EMAIL_TOKEN; VALIDATION_ERROR for a password that the stage or bcrypt does not accept;
 *   UNAVAILABLE
 */
export async function resetPassword(
  { token, password }: ResetPasswordRequest,
  sourceIp: string,
): Promise<ChangedPassword> {
  const proof = await readProof("reset", token);
  const { use, user, isFirst } = proof;
  await requireUncommonPassword(password, user.email);
  // These come before the link is used, so that it can be opened again if they fail.
  await rememberNetwork(user.email, networkOf(sourceIp));
  const account = await accountAfterReset(proof, await hashPassword(password));
  const { id: userId, organizationId } = account.user;
  const isReplaced = userId !== user.id;
  const email = emailJob(organizationId, { kind: "passwordChanged", userId, wasUnverified: isReplaced });
  const { outcome } = await transact({
    use,
    account: account.writes,
    audit: entryOfUser("POST /v1/auth/password-reset", account.user, sourceIp),
    email: owedEmail(email),
  });
  if (outcome === "rejected") throw new ApiError("INVALID_EMAIL_TOKEN");
  await Promise.all([
    queueOwedEmail(email),
    // The stranger may have created more before the sessions ended.
    ...(isFirst && !isReplaced ? [endUnproven(user)] : []),
  ]);
  return { changed: true };
}
