import type { Session } from "../../api/contract/accounts.ts";
import { issueSessionToken } from "../../platform/auth/session-token.ts";
import { toApiOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { toApiUser, type UserRecord } from "../../tenancy/users/record.ts";
import { putSession } from "./record.ts";

/**
 * Logs in a user whose password was checked.
 * @param user read before the hash of the password
 * @param issuedAt a moment before the hash was read, so that a session is older than a replacement of its password
 * @returns the session for the user, and its id for the audit log
 */
export async function startSession(
  user: UserRecord,
  organization: OrganizationRecord,
  issuedAt: Date,
  userAgent: string | undefined,
): Promise<{ session: Session; sessionId: string }> {
  const { token, sessionId, expiresAt } = await issueSessionToken({
    userId: user.id,
    organizationId: organization.id,
    issuedAt,
    passwordVersion: user.passwordVersion,
  });
  await putSession(user, { id: sessionId, issuedAt, expiresAt, userAgent });
  const session: Session = {
    token,
    tokenType: "Bearer",
    expiresAt: expiresAt.toISOString(),
    user: toApiUser(user),
    organization: toApiOrganization(organization),
  };
  return { session, sessionId };
}
