import type { VerifiedEmail, VerifyEmailRequest } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { auditEntry } from "../platform/audit-log.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { transact } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { findEmailToken } from "./email-tokens.ts";
import { findUser } from "./user-record.ts";

/**
 * Notes that an email is its user's, who has opened the link that was sent there. An owner's is that of the organisation.
 * @throws ApiError INVALID_EMAIL_TOKEN; UNAVAILABLE
 */
export async function verifyEmail({ token }: VerifyEmailRequest, sourceIp: string): Promise<VerifiedEmail> {
  const shown = await findEmailToken("verify", token);
  const user = shown && (await findUser(shown.userId, { consistent: true }));
  if (shown === undefined || user === undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
  const { id: userId, organizationId, email, role } = user;
  const verified = { setIfAbsent: { emailVerifiedAt: now().toISOString() } };
  const { outcome } = await transact([
    shown.use,
    updateOf(keys.user(userId), verified, { present: ["pk"] }),
    ...(role === "owner" ? [updateOf(keys.organization(organizationId), verified, { present: ["pk"] })] : []),
    auditEntry({
      organizationId,
      actor: { type: "user", userId },
      action: "POST /v1/auth/verify-email",
      sourceAddress: sourceIp,
      ending: { outcome: "done" },
    }),
  ]);
  if (outcome === "refused") throw new ApiError("INVALID_EMAIL_TOKEN");
  return { email, verified: true };
}
