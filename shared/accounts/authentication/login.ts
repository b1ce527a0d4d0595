import type { Account, LoginRequest, Session } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { refund } from "../../platform/limits/sliding-window.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { networkOf } from "../../platform/source-network.ts";
import { writeAuditEntry } from "../../platform/table/audit-log.ts";
import {
  findOrganization,
  toApiOrganization,
  type OrganizationRecord,
} from "../../tenancy/organizations/record.ts";
import { findUserByEmail, toApiUser, type UserRecord } from "../../tenancy/users/record.ts";
import { passwordMatches } from "../passwords/hash.ts";
import { rememberNetwork } from "../passwords/known-networks.ts";
import { findPasswordHash } from "../passwords/record.ts";
import { countPasswordTry } from "../passwords/tries.ts";
import { findSecondFactor } from "../second-factor/record.ts";
import { requireSecondFactor } from "../second-factor/second-factor.ts";
import { endReplacedSession, startBrowserSession } from "../sessions/browser-session.ts";
import { startSession } from "../sessions/session.ts";

/**
 * Exchanges email and password, and a code where the user has a second factor, for a session. An unknown email causes
 * the same work and the same response as a wrong password.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords or codes. Only a caller with the
 *   right password receives SECOND_FACTOR_REQUIRED, INVALID_SECOND_FACTOR or ORGANIZATION_SUSPENDED
 */
export async function login(request: LoginRequest, sourceIp: string, userAgent?: string): Promise<Session> {
  const { user, organization, issuedAt } = await checkLogin(request, sourceIp);
  const { session, sessionId } = await startSession(user, organization, issuedAt, userAgent);
  await noteLogin(user, sessionId, "POST /v1/auth/login", sourceIp);
  return session;
}

/**
 * The same for the console, whose session is in a cookie. It ends the session of the browser's current cookie.
 * @throws ApiError as `login`
 */
export async function loginInBrowser(
  request: LoginRequest,
  sourceIp: string,
  browser: { readonly userAgent: string | undefined; readonly cookie: string | undefined },
): Promise<{ readonly account: Account; readonly cookie: string; readonly endsAt: Date }> {
  const { user, organization, issuedAt } = await checkLogin(request, sourceIp);
  const { sessionId, cookie, endsAt } = await startBrowserSession(user, issuedAt, browser.userAgent);
  await noteLogin(user, sessionId, "POST /v1/auth/console-session", sourceIp);
  if (browser.cookie !== undefined) await endReplacedSession(browser.cookie);
  const account = { user: toApiUser(user), organization: toApiOrganization(organization) };
  return { account, cookie, endsAt };
}

async function checkLogin(
  request: LoginRequest,
  sourceIp: string,
): Promise<{
  readonly user: UserRecord;
  readonly organization: OrganizationRecord;
  readonly issuedAt: Date;
}> {
  const network = networkOf(sourceIp);
  const tries = await countPasswordTry(request.email, network);
  const issuedAt = now();
  const user = await findUserByEmail(request.email);
  const passwordHash = await findPasswordHash(user);
  if (!(await passwordMatches(request.password, passwordHash)) || user === undefined) {
    countMetrics({ FailedLogins: 1 });
    throw new ApiError("INVALID_CREDENTIALS");
  }
  const [organization, secondFactor] = await Promise.all([
    findOrganization(user.organizationId, { consistent: true }),
    findSecondFactor(user.id),
    ...tries.map(refund),
  ]);
  if (organization === undefined) throw new ApiError("INVALID_CREDENTIALS");
  await requireSecondFactor(user, secondFactor, request.code, sourceIp);
  await rememberNetwork(request.email, network);
  if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
  return { user, organization, issuedAt };
}

/**
 * Writes a log-in to the audit log, before its session is returned. Wrong passwords are not logged: an entry for existing
 * accounts only would take time, and so show which emails have an account.
 */
async function noteLogin(
  { id: userId, organizationId }: UserRecord,
  sessionId: string,
  action: string,
  sourceAddress: string,
): Promise<void> {
  const actor = { type: "user", userId, sessionId } as const;
  await writeAuditEntry({ organizationId, actor, action, sourceAddress, ending: { outcome: "done" } });
}
