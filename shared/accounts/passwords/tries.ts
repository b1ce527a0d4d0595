import { ApiError } from "../../api/contract/errors.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { minuteMs } from "../../platform/clock.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume, refund, type Use } from "../../platform/limits/sliding-window.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { networkOf } from "../../platform/source-network.ts";
import { findUser, type UserRecord } from "../../tenancy/users/record.ts";
import { passwordMatches } from "./hash.ts";
import { isKnownNetwork } from "./known-networks.ts";
import { findPasswordHash } from "./record.ts";

/** Strangers who guess can keep out an owner at a new place, who then has links in the mailbox that let them in. */
const message =
  "Too many wrong passwords. Set a new password with the newest link in your mailbox, or request one, or wait.";

/** Wrong passwords that one network may try at one account. */
const failuresOfBoth: RateLimit = {
  name: "login-account-network",
  max: 10,
  windowMs: 15 * minuteMs,
  message,
};

/** Wrong passwords that one network may try at all accounts that it never logged in to. */
const failuresPerNetwork: RateLimit = { name: "login-network", max: 100, windowMs: 15 * minuteMs, message };

/**
 * Wrong passwords that all networks without a log-in to an account may try at it together. The limit slows people who
 * guess from many places. It must not lock out an owner at a new place, so the window is minutes. Each network also has
 * its own limit of ten.
 */
const failuresPerAccount: RateLimit = { name: "login-account", max: 20, windowMs: 2 * minuteMs, message };

/**
 * Counts a try at the password of an account; a right password is refunded. The count comes before the check, so that
 * parallel guesses cannot exceed the limits.
 * @throws ApiError RATE_LIMITED
 */
export async function countPasswordTry(email: string, network: string): Promise<Use[]> {
  // Failures of other people do not lock out an owner in a network from which they logged in before.
  const isKnown = await isKnownNetwork(email, network);
  return Promise.all([
    consume(failuresOfBoth, `${email} ${network}`),
    ...(isKnown ? [] : [consume(failuresPerNetwork, network), consume(failuresPerAccount, email)]),
  ]);
}

/**
 * Checks the password of a user who is logged in.
 * @throws ApiError INVALID_CREDENTIALS. RATE_LIMITED after too many wrong passwords, at log-ins or here. UNAUTHORIZED
 *   when the user no longer exists
 */
export async function requirePassword(actor: Actor, password: string, sourceIp: string): Promise<UserRecord> {
  return (await checkPassword(actor, password, sourceIp)).user;
}

/** Checks a password, and returns the hash that it was checked with. A caller can then replace that hash only. */
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

/** Returns the error for a wrong password of a user who is logged in. */
export function wrongPassword(): ApiError {
  return new ApiError("INVALID_CREDENTIALS", { message: "The password is wrong." });
}
