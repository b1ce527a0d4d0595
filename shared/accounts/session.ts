import type { Session } from "../contract/accounts.ts";
import { issueSessionToken } from "../platform/auth/session-token.ts";
import { presentOrganization, type OrganizationRecord } from "./organization-record.ts";
import { presentUser, type UserRecord } from "./user-record.ts";

/** Logs a user in whose password has been looked at. */
export async function startSession(user: UserRecord, organization: OrganizationRecord): Promise<Session> {
  const { token, expiresAt } = await issueSessionToken({
    userId: user.id,
    organizationId: organization.id,
  });
  return {
    token,
    tokenType: "Bearer",
    expiresAt: expiresAt.toISOString(),
    user: presentUser(user),
    organization: presentOrganization(organization),
  };
}
