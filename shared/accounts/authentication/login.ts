import type { LoginRequest, Session } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { refund } from "../../platform/limits/sliding-window.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { networkOf } from "../../platform/source-network.ts";
import { writeAuditEntry } from "../../platform/table/audit-log.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { findUserByEmail } from "../../tenancy/users/record.ts";
import { passwordMatches } from "../passwords/hash.ts";
import { rememberNetwork } from "../passwords/known-networks.ts";
import { findPasswordHash } from "../passwords/record.ts";
import { countPasswordTry } from "../passwords/tries.ts";
import { findSecondFactor } from "../second-factor/record.ts";
import { requireSecondFactor } from "../second-factor/second-factor.ts";
import { startSession } from "../sessions/session.ts";

/**
 * Exchanges email and password, and a code where the user has a second factor, for a session. An unknown email causes
 * the same work and the same response as a wrong password.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords or codes. Only a caller with the
 *   right password receives SECOND_FACTOR_REQUIRED, INVALID_SECOND_FACTOR or ORGANIZATION_SUSPENDED
 */
export async function login(request: LoginRequest, sourceIp: string): Promise<Session> {
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
  const { session, sessionId } = await startSession(user, organization, issuedAt);
  // A session is returned only after it is in the audit log. Wrong passwords are not logged: an entry for existing
  // accounts only would take time, and so show which emails have an account.
  await writeAuditEntry({
    organizationId: organization.id,
    actor: { type: "user", userId: user.id, sessionId },
    action: "POST /v1/auth/login",
    sourceAddress: sourceIp,
    ending: { outcome: "done" },
  });
  return session;
}
