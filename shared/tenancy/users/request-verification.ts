import type { EmailRequested } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { findSuppression } from "../../notices/emails/suppression-record.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { hourMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { findUser } from "./record.ts";

const heldBack =
  "No emails are sent to this address: an earlier one bounced, or was reported as unwanted. Ask the operator of the " +
  "gateway to allow emails to it again.";

/** Links that one user may request. */
const requestsPerUser: RateLimit = { name: "verify-email", max: 5, windowMs: hourMs };

/**
 * Sends a new link to the user of a session.
 * @throws ApiError EMAIL_DISABLED. CONFLICT when their email is verified or suppressed. RATE_LIMITED. UNAUTHORIZED
 *   when the user no longer exists
 */
export async function requestVerification({ userId, organizationId }: Actor): Promise<EmailRequested> {
  if (config.emailFrom() === undefined) throw new ApiError("EMAIL_DISABLED");
  const user = await findUser(userId);
  if (user === undefined) throw new ApiError("UNAUTHORIZED");
  if (user.emailVerifiedAt !== undefined) {
    throw new ApiError("CONFLICT", { message: "The email is verified already." });
  }
  if ((await findSuppression(user.email)) !== undefined)
    throw new ApiError("CONFLICT", { message: heldBack });
  await consume(requestsPerUser, userId);
  await enqueue(emailJob(organizationId, { kind: "verification", userId }));
  return { requested: true };
}
