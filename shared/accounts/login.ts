import type { LoginRequest, Session } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { minuteMs } from "../platform/clock.ts";
import { countTry, forgetTry, type Limit } from "../platform/http/rate-limit.ts";
import { countMetrics } from "../platform/metrics.ts";
import { findOrganization } from "./organization-record.ts";
import { passwordMatches } from "./passwords.ts";
import { startSession } from "./session.ts";
import { findUserByEmail } from "./user-record.ts";

/** Wrong passwords that one account, or one address, may try in any quarter of an hour. */
const failuresPerAccount: Limit = { what: "login-account", max: 10, windowMs: 15 * minuteMs };
const failuresPerAddress: Limit = { what: "login-address", max: 100, windowMs: 15 * minuteMs };

/**
 * Exchanges email and password for a session. An unknown email does the same work and gets the same answer as
 * a wrong password.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords
 */
export async function login(request: LoginRequest, sourceIp: string): Promise<Session> {
  // The try is counted before the password is looked at: parallel guesses cannot slip past the limit.
  const tries = await Promise.all([
    countTry(failuresPerAccount, request.email),
    countTry(failuresPerAddress, sourceIp),
  ]);
  const user = await findUserByEmail(request.email);
  if (!(await passwordMatches(request.password, user?.passwordHash)) || user === undefined) {
    countMetrics({ FailedLogins: 1 });
    throw new ApiError("INVALID_CREDENTIALS");
  }
  const [organization] = await Promise.all([findOrganization(user.organizationId), ...tries.map(forgetTry)]);
  if (organization === undefined) throw new ApiError("INVALID_CREDENTIALS");
  return startSession(user, organization);
}
