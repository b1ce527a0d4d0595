import type { EmailRequested, PasswordResetRequest } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { hourMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { networkOf } from "../../platform/source-network.ts";
import { isKnownNetwork } from "./known-networks.ts";

const requestsPerNetwork: RateLimit = { name: "password-reset-network", max: 20, windowMs: hourMs };
const requestsPerEmail: RateLimit = { name: "password-reset-email", max: 5, windowMs: hourMs };

/** Requests from one network in which the account was logged into. Those of strangers do not count. */
const requestsPerKnownNetwork: RateLimit = { name: "password-reset-known", max: 5, windowMs: hourMs };

/** Reset requests have a queue group of their own, so that many of them delay no other email. */
const group = "password-resets";

/**
 * Sends a link that sets a new password. It does not check whether there is an account, so that neither the response
 * nor its time shows it.
 * @throws ApiError EMAIL_DISABLED, RATE_LIMITED
 */
export async function requestPasswordReset(
  { email }: PasswordResetRequest,
  sourceIp: string,
): Promise<EmailRequested> {
  if (config.emailFrom() === undefined) throw new ApiError("EMAIL_DISABLED");
  const network = networkOf(sourceIp);
  await consume(requestsPerNetwork, network);
  const isFromKnownNetwork = await isKnownNetwork(email, network);
  if (isFromKnownNetwork) await consume(requestsPerKnownNetwork, `${email} ${network}`);
  else await consume(requestsPerEmail, email);
  await enqueue(emailJob(group, { kind: "passwordReset", email, isFromKnownNetwork }));
  return { requested: true };
}
