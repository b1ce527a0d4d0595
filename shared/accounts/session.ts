import type { Session } from "../contract/accounts.ts";
import { issueSessionToken } from "../platform/auth/session-token.ts";
import { presentOrganization, type OrganizationRecord } from "./organization-record.ts";
import { presentUser, type UserRecord } from "./user-record.ts";

/**
 * Logs a user in whose password has been looked at.
 * @returns what they get, and the id of the session for the audit log
 */
export async function startSession(
  user: UserRecord,
  organization: OrganizationRecord,
): Promise<{ session: Session; sessionId: string }> {
  const { token, sessionId, expiresAt } = await issueSessionToken({
    userId: user.id,
    organizationId: organization.id,
  });
  const session: Session = {
    token,
    tokenType: "Bearer",
    expiresAt: expiresAt.toISOString(),
    user: presentUser(user),
    organization: presentOrganization(organization),
  };
  return { session, sessionId };
}
