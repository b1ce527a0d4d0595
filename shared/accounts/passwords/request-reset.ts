import type { EmailRequested, PasswordResetRequest } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { hourMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume, tryConsume } from "../../platform/limits/sliding-window.ts";
import { networkOf } from "../../platform/source-network.ts";
import { lifetimeMsOf } from "../../tenancy/users/email-tokens.ts";
import { isKnownNetwork } from "./known-networks.ts";

const message = "Too many requests of links. Use the newest link in your mailbox, or wait.";
const requestsPerNetwork: RateLimit = { name: "password-reset-network", max: 20, windowMs: hourMs, message };

/** The window is the lifetime of a link: beyond the limit, the newest one is still valid. */
const requestsPerEmail: RateLimit = {
  name: "password-reset-email",
  max: 5,
  windowMs: lifetimeMsOf("reset"),
};

/** Requests from one network in which the account was logged into. Those of strangers do not count. */
const requestsPerKnownNetwork: RateLimit = {
  name: "password-reset-known",
  max: 5,
  windowMs: hourMs,
  message,
};

/** Reset requests have a queue group of their own, so that many of them delay no other email. */
const group = "password-resets";

/**
 * Sends a link that sets a new password. It does not check whether there is an account, so that neither the response
 * nor its time shows it. Beyond the limit of an email, no other link is sent. Strangers may have requested the others, but the
 * newest one in the mailbox works for its owner.
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
  else if ("waitMs" in (await tryConsume(requestsPerEmail, email))) return { requested: true };
  await enqueue(emailJob(group, { kind: "passwordReset", email, isFromKnownNetwork }));
  return { requested: true };
}
