import type { LoginRequest, Session } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { writeAuditEntry } from "../platform/audit-log.ts";
import { minuteMs } from "../platform/clock.ts";
import { countTry, forgetTry, type CountedTry, type Limit } from "../platform/http/rate-limit.ts";
import { networkOf } from "../platform/http/source-network.ts";
import { countMetrics } from "../platform/metrics.ts";
import { isKnownNetwork, rememberNetwork } from "./known-networks.ts";
import { findOrganization } from "./organization-record.ts";
import { passwordMatches } from "./passwords.ts";
import { startSession } from "./session.ts";
import { findUserByEmail } from "./user-record.ts";

/** Wrong passwords that one network may try at one account. */
const failuresOfBoth: Limit = { what: "login-account-network", max: 10, windowMs: 15 * minuteMs };

/** Wrong passwords that one network may try at all accounts that it has never got into. */
const failuresPerNetwork: Limit = { what: "login-network", max: 100, windowMs: 15 * minuteMs };

/**
 * Wrong passwords that all networks together may try at one account that none of them has got into. It slows those who
 * guess from many places; it must not lock the owner out, who may be at a new place too: room comes back in minutes, and
 * each network has used up its own ten before.
 */
const failuresPerAccount: Limit = { what: "login-account", max: 20, windowMs: 2 * minuteMs };

/**
 * Exchanges email and password for a session. An unknown email does the same work and gets the same answer as
 * a wrong password.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords; ORGANIZATION_SUSPENDED, which only
 *   those hear who know the password
 */
export async function login(request: LoginRequest, sourceIp: string): Promise<Session> {
  const network = networkOf(sourceIp);
  // The try is counted before the password is looked at: parallel guesses cannot slip past the limit.
  const tries = await countLogin(request.email, network);
  const user = await findUserByEmail(request.email);
  if (!(await passwordMatches(request.password, user?.passwordHash)) || user === undefined) {
    countMetrics({ FailedLogins: 1 });
    throw new ApiError("INVALID_CREDENTIALS");
  }
  const [organization] = await Promise.all([
    findOrganization(user.organizationId, { consistent: true }),
    rememberNetwork(request.email, network),
    ...tries.map(forgetTry),
  ]);
  if (organization === undefined) throw new ApiError("INVALID_CREDENTIALS");
  if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
  const session = await startSession(user, organization);
  // A session that is not in the log is given to nobody. Wrong passwords are not in it: written for emails that have an
  // account, and for others not, they would take time that tells the two apart.
  await writeAuditEntry({
    organizationId: organization.id,
    actor: { type: "user", userId: user.id },
    action: "POST /v1/auth/login",
    sourceAddress: sourceIp,
    ending: { outcome: "done" },
  });
  return session;
}

/** @throws ApiError RATE_LIMITED */
async function countLogin(email: string, network: string): Promise<CountedTry[]> {
  // What others do, at the account or in the same network, does not keep its owner out of where they have been before.
  const isKnown = await isKnownNetwork(email, network);
  return Promise.all([
    countTry(failuresOfBoth, `${email} ${network}`),
    ...(isKnown ? [] : [countTry(failuresPerNetwork, network), countTry(failuresPerAccount, email)]),
  ]);
}
