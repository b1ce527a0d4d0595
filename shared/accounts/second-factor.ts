import { ApiError } from "../contract/errors.ts";
import type { StartedTotp, StartTotpRequest } from "../contract/second-factor.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { newTotpSecret, totpUri } from "../platform/auth/totp.ts";
import { hourMs } from "../platform/clock.ts";
import { networkOf } from "../platform/http/source-network.ts";
import type { RateLimit } from "../platform/limits/rate-limit.ts";
import { consume, refund } from "../platform/limits/sliding-window.ts";
import { countMetrics } from "../platform/metrics.ts";
import { isKnownNetwork } from "./known-networks.ts";
import { requirePassword } from "./password-tries.ts";
import { isRecoveryCode, putUnconfirmed, useCode, type SecondFactorRecord } from "./second-factor-record.ts";
import type { UserRecord } from "./user-record.ts";

const issuer = "SMS Gateway";

/** Wrong codes that one network may try at one account. */
const wrongCodesOfBoth: RateLimit = { name: "second-factor-account-network", max: 10, windowMs: hourMs };

/**
 * Wrong codes that all networks together may try at one account that none of them has got into. Three of a million codes
 * count at a time: whoever knows the password and guesses on gets in after some four years.
 */
const wrongCodesPerAccount: RateLimit = { name: "second-factor-account", max: 10, windowMs: hourMs };

/**
 * Makes the secret of a second factor, which log-ins need once it is confirmed.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED, UNAUTHORIZED; CONFLICT when the user has a second factor
 */
export async function startTotp(
  actor: Actor,
  { password }: StartTotpRequest,
  sourceIp: string,
): Promise<StartedTotp> {
  const { id, email } = await requirePassword(actor, password, sourceIp);
  const secret = newTotpSecret();
  if (!(await putUnconfirmed(id, secret))) {
    throw new ApiError("CONFLICT", { message: "There is a second factor already: remove it first." });
  }
  return { enabled: false, secret, uri: totpUri(secret, { issuer, account: email }) };
}

/**
 * Uses a code up that a user has to give, one of their app or a recovery code.
 * @throws ApiError INVALID_SECOND_FACTOR when it is wrong or was used; RATE_LIMITED after too many of them, but not for a
 *   good recovery code
 */
export async function requireCode(
  user: UserRecord,
  record: SecondFactorRecord,
  code: string,
  sourceIp: string,
): Promise<void> {
  // Somebody else's guesses at the app's codes must not keep its owner out, who has the recovery codes for such a day.
  if (isRecoveryCode(record, code) && (await useCode(record, code))) return;
  await tryCode(user, sourceIp, async () => ((await useCode(record, code)) ? true : undefined));
}

/**
 * Lets a user try a code, as often as wrong ones may be tried.
 * @param attempt gives undefined for a wrong one
 * @throws ApiError INVALID_SECOND_FACTOR, RATE_LIMITED
 */
export async function tryCode<Result>(
  { email }: UserRecord,
  sourceIp: string,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const network = networkOf(sourceIp);
  const isKnown = await isKnownNetwork(email, network);
  // Before the code is looked at, as with passwords.
  const tries = await Promise.all([
    consume(wrongCodesOfBoth, `${email} ${network}`),
    ...(isKnown ? [] : [consume(wrongCodesPerAccount, email)]),
  ]);
  const result = await attempt();
  if (result === undefined) {
    countMetrics({ FailedLogins: 1 });
    throw new ApiError("INVALID_SECOND_FACTOR");
  }
  await Promise.all(tries.map(refund));
  return result;
}
