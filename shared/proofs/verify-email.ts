import { listVerified, verifiedSince } from "../accounts/organizations/verification.ts";
import { checkPassword } from "../accounts/passwords/tries.ts";
import { endAllSessions } from "../accounts/users/record.ts";
import type { VerifiedEmail, VerifyEmailRequest } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { auditEntry } from "../platform/audit-log.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { transact } from "../platform/table/transact.ts";
import { updateOf } from "../platform/table/write.ts";
import { endUnproven, readProof } from "./first-proof.ts";

/**
 * Records that an email belongs to its user, who has opened the link there and knows the password. The link alone is no
 * proof: a stranger who registered with the address may have requested it, and keeps the password. The first time, it
 * removes what was created before, and ends the sessions.
 * @throws ApiError INVALID_EMAIL_TOKEN; INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords; UNAVAILABLE
 */
export async function verifyEmail(
  { token, password }: VerifyEmailRequest,
  sourceIp: string,
): Promise<VerifiedEmail> {
  const { use, user, isFirst } = await readProof("verify", token);
  const { id: userId, organizationId, email } = user;
  await checkPassword({ userId }, password, sourceIp).catch(adviseStranger);
  // This comes before the link is used, so that it can be opened again if this fails.
  if (isFirst) await endUnproven(user);
  const at = now().toISOString();
  const { outcome } = await transact({
    use,
    user: updateOf(
      keys.user(userId),
      { ...(isFirst ? endAllSessions(user, at) : {}), ...verifiedSince(at) },
      { present: ["pk"], absent: ["removedAt"] },
    ),
    rights: listVerified(user),
    audit: auditEntry({
      organizationId,
      actor: { type: "user", userId },
      action: "POST /v1/auth/verify-email",
      sourceAddress: sourceIp,
      ending: { outcome: "done" },
    }),
  });
  if (outcome === "rejected") throw new ApiError("INVALID_EMAIL_TOKEN");
  // More may have been created before the sessions ended.
  if (isFirst) await endUnproven(user);
  return { email, verified: true };
}

function adviseStranger(error: unknown): never {
  if (!(error instanceof ApiError && error.code === "INVALID_CREDENTIALS")) throw error;
  throw new ApiError("INVALID_CREDENTIALS", {
    message:
      "The password is not that of the account. If another person registered with your email, reset the password: that " +
      "makes the account yours and removes all that was created in it.",
  });
}
