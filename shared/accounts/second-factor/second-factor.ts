import { Brand } from "../../api/contract/brand.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { StartedTotp, StartTotpRequest } from "../../api/contract/second-factor.ts";
import { brand } from "../../notices/brand/brand.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { newTotpSecret, totpUri } from "../../platform/auth/totp.ts";
import { hourMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume, refund } from "../../platform/limits/sliding-window.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { networkOf } from "../../platform/source-network.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";
import { isKnownNetwork } from "../passwords/known-networks.ts";
import { requirePassword } from "../passwords/tries.ts";
import { isRecoveryCode, putUnconfirmed, useCode, type SecondFactorRecord } from "./record.ts";

/** Wrong codes that one network may try at one account. */
const wrongCodesOfBoth: RateLimit = { name: "second-factor-account-network", max: 10, windowMs: hourMs };

/**
 * Wrong codes that all networks without a log-in to an account may try at it together. Three of a million codes are
 * valid at a time. Someone who knows the password and keeps guessing gets in after about four years.
 */
const wrongCodesPerAccount: RateLimit = { name: "second-factor-account", max: 10, windowMs: hourMs };

/**
 * Makes the secret of a second factor, which log-ins require once it is confirmed.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED, UNAUTHORIZED. CONFLICT when the user has a second factor
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
  const uri = totpUri(secret, { issuer: brand().name, account: accountOf(email) });
  return { enabled: false, secret, uri };
}

/**
 * Returns what an authenticator app calls the account. Apps replace an entry of the same issuer and account. So the account of a
 * gateway without a brand of its own also has its host.
 */
function accountOf(email: string): string {
  const { host } = new URL(config.apiUrl());
  return brand().name === Brand.parse({}).name ? `${email} (${host})` : email;
}

/**
 * Requires a valid code if log-ins require one, and uses it up.
 * @param record the user's second factor, if there is one
 * @throws ApiError SECOND_FACTOR_REQUIRED without a code, and the errors of `requireCode`
 */
export async function requireSecondFactor(
  user: UserRecord,
  record: SecondFactorRecord | undefined,
  code: string | undefined,
  sourceIp: string,
): Promise<void> {
  if (record?.confirmedAt === undefined) return;
  if (code === undefined) throw new ApiError("SECOND_FACTOR_REQUIRED");
  await requireCode(user, record, code, sourceIp);
}

/**
 * Requires a valid code of the user's app, or a recovery code, and uses it up.
 * @throws ApiError INVALID_SECOND_FACTOR when the code is wrong or was used. RATE_LIMITED after too many wrong codes,
 *   but not for a valid recovery code
 */
export async function requireCode(
  user: UserRecord,
  record: SecondFactorRecord,
  code: string,
  sourceIp: string,
): Promise<void> {
  // Wrong codes of other people must not lock out the owner, who has recovery codes for that case.
  if (isRecoveryCode(record, code) && (await useCode(record, code))) return;
  await tryCode(user, sourceIp, async () => ((await useCode(record, code)) ? true : undefined));
}

/**
 * Runs an attempt with a code, within the limits for wrong codes.
 * @param attempt returns undefined for a wrong code
 * @throws ApiError INVALID_SECOND_FACTOR, RATE_LIMITED
 */
export async function tryCode<Result>(
  { email }: UserRecord,
  sourceIp: string,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const network = networkOf(sourceIp);
  const isKnown = await isKnownNetwork(email, network);
  // The count comes before the check, as with passwords.
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
