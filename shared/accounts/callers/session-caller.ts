import { scopesOfRole } from "../../api/contract/scopes.ts";
import { verifySessionToken, type SessionClaims } from "../../platform/auth/session-token.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { RoleOfMember } from "../../tenancy/organizations/member-record.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { findUser, type UserRecord } from "../../tenancy/users/record.ts";
import { findBrowserSession, renew } from "../sessions/browser-session.ts";
import { claimsOf, isOpen } from "../sessions/record.ts";
import type { Caller, Rejected } from "./authenticate.ts";

export async function callerOfSession(token: string): Promise<Caller | Rejected> {
  const claims = await verifySessionToken(token);
  if (claims === undefined) return isSessionToken(token) ? "unknown" : "malformed";
  return claims === "expired" ? claims : callerOf(claims);
}

/** Returns the caller of a cookie, and when its session ends; each use renews it. */
export async function callerOfCookie(cookie: string): Promise<Caller | Rejected> {
  const found = await findBrowserSession(cookie);
  if (typeof found === "string") return found;
  const caller = await callerOf(claimsOf(found.record));
  return typeof caller === "string" ? caller : { ...caller, endsAt: await renew(found) };
}

async function callerOf(claims: SessionClaims): Promise<Caller | Rejected> {
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
    lacksSecondFactor: organization.secondFactorRequiredAt !== undefined && user.secondFactorAt === undefined,
  };
}

/** Whether a string has the form of a session token; its signature is not checked. */
function isSessionToken(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

function provenAt({ sessionId, issuedAt }: SessionClaims, { reauthenticated }: UserRecord): string {
  return reauthenticated?.sessionId === sessionId ? reauthenticated.at : issuedAt.toISOString();
}
