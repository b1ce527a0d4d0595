import { ApiError } from "../contract/errors.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { minuteMs } from "../platform/clock.ts";
import { networkOf } from "../platform/http/source-network.ts";
import type { RateLimit } from "../platform/limits/rate-limit.ts";
import { consume, refund, type Use } from "../platform/limits/sliding-window.ts";
import { countMetrics } from "../platform/metrics.ts";
import { isKnownNetwork } from "./known-networks.ts";
import { findPasswordHash } from "./password-record.ts";
import { passwordMatches } from "./passwords.ts";
import { findUser, type UserRecord } from "./user-record.ts";

/** Wrong passwords that one network may try at one account. */
const failuresOfBoth: RateLimit = { name: "login-account-network", max: 10, windowMs: 15 * minuteMs };

/** Wrong passwords that one network may try at all accounts that it has never got into. */
const failuresPerNetwork: RateLimit = { name: "login-network", max: 100, windowMs: 15 * minuteMs };

/**
 * Wrong passwords that all networks together may try at one account that none of them has got into. It slows those who
 * guess from many places; it must not lock the owner out, who may be at a new place too: room comes back in minutes, and
 * each network has used up its own ten before.
 */
const failuresPerAccount: RateLimit = { name: "login-account", max: 20, windowMs: 2 * minuteMs };

/**
 * Counts a try at the password of an account, which is forgotten when it was the right one. It comes before the password
 * is looked at: parallel guesses cannot slip past the limits.
 * @throws ApiError RATE_LIMITED
 */
export async function countPasswordTry(email: string, network: string): Promise<Use[]> {
  // What others do, at the account or in the same network, does not keep its owner out of where they have been before.
  const isKnown = await isKnownNetwork(email, network);
  return Promise.all([
    consume(failuresOfBoth, `${email} ${network}`),
    ...(isKnown ? [] : [consume(failuresPerNetwork, network), consume(failuresPerAccount, email)]),
  ]);
}

/**
 * Asks somebody for their password once more who is logged in.
 * @throws ApiError INVALID_CREDENTIALS; RATE_LIMITED after too many wrong ones, at log-ins or here; UNAUTHORIZED when the
 *   user no longer exists
 */
export async function requirePassword(actor: Actor, password: string, sourceIp: string): Promise<UserRecord> {
  return (await checkPassword(actor, password, sourceIp)).user;
}

/** The same, with the hash that the password was checked with, for whoever replaces that one and no other. */
export async function checkPassword(
  { userId }: Pick<Actor, "userId">,
  password: string,
  sourceIp: string,
): Promise<{ readonly user: UserRecord; readonly passwordHash: string }> {
  const user = await findUser(userId, { consistent: true });
  if (user === undefined) throw new ApiError("UNAUTHORIZED");
  const tries = await countPasswordTry(user.email, networkOf(sourceIp));
  const passwordHash = await findPasswordHash(user);
  if (passwordHash === undefined || !(await passwordMatches(password, passwordHash))) {
    countMetrics({ FailedLogins: 1 });
    throw wrongPassword();
  }
  await Promise.all(tries.map(refund));
  return { user, passwordHash };
}

/** That somebody who is logged in does not know their password. */
export function wrongPassword(): ApiError {
  return new ApiError("INVALID_CREDENTIALS", { message: "The password is wrong." });
}
