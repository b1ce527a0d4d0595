import { scopesOfRole } from "../../api/contract/scopes.ts";
import { verifySessionToken, type SessionClaims } from "../../platform/auth/session-token.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { RoleOfMember } from "../../tenancy/organizations/member-record.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { findUser, nameOfKeptSession, type UserRecord } from "../../tenancy/users/record.ts";
import type { Caller, Rejected } from "./authenticate.ts";

export async function callerOfSession(token: string): Promise<Caller | Rejected> {
  const claims = await verifySessionToken(token);
  if (claims === undefined) return isSessionToken(token) ? "unknown" : "malformed";
  if (claims === "expired") return "expired";
  const { organizationId, userId, sessionId } = claims;
  const [organization, user, membership] = await Promise.all([
    findOrganization(organizationId, { consistent: true }),
    findUser(userId, { consistent: true }),
    findItem(RoleOfMember, keys.member(organizationId, userId), { consistent: true }),
  ]);
  if (organization === undefined || user === undefined || membership === undefined) return "ended";
  if (!isOpen(claims, user)) return "ended";
  return {
    actor: {
      organizationId,
      userId,
      credential: { type: "session", sessionId, provenAt: provenAt(claims, user) },
      scopes: scopesOfRole[membership.role],
    },
    organization,
  };
}

/** Whether a string has the form of a session token; its signature is not checked. */
function isSessionToken(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

function isOpen(session: SessionClaims, user: UserRecord): boolean {
  const { sessionsValidFrom, keptSession, endedSessionIds, removedAt } = user;
  const isOfPassword = session.passwordVersion === user.passwordVersion;
  return (
    removedAt === undefined &&
    user.organizationId === session.organizationId &&
    endedSessionIds?.has(session.sessionId) !== true &&
    (sessionsValidFrom === undefined
      ? isOfPassword
      : (isOfPassword && session.issuedAt.getTime() >= Date.parse(sessionsValidFrom)) ||
        keptSession === nameOfKeptSession(session.sessionId, sessionsValidFrom))
  );
}

function provenAt({ sessionId, issuedAt }: SessionClaims, { reauthenticated }: UserRecord): string {
  return reauthenticated?.sessionId === sessionId ? reauthenticated.at : issuedAt.toISOString();
}
