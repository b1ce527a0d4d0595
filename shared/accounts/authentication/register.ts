import type { RegisterRequest, Session } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { emailJob, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { hourMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { networkOf } from "../../platform/source-network.ts";
import { entryOfUser } from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf } from "../../platform/table/write.ts";
import type { EmailRecord } from "../../tenancy/users/record.ts";
import { requireUncommonPassword } from "../passwords/common-passwords.ts";
import { hashPassword } from "../passwords/hash.ts";
import { startSession } from "../sessions/session.ts";
import { newAccount } from "./new-account.ts";

/**
 * Creates a user with an organization and an empty wallet in one transaction, and logs the user in.
 * @throws ApiError EMAIL_TAKEN. VALIDATION_ERROR for a password that bcrypt or the stage does not accept.
 *   RATE_LIMITED; UNAVAILABLE
 */
export async function register(
  request: RegisterRequest,
  sourceIp: string,
  userAgent?: string,
): Promise<Session> {
  await requireUncommonPassword(request.password, request.email);
  // The count comes first, because hashing a password is expensive.
  await countRegistration(networkOf(sourceIp));
  const passwordHash = await hashPassword(request.password);
  const createdAt = now();
  const account = newAccount({ ...request, passwordHash, isVerified: false }, createdAt);
  const { user, organization } = account;
  const email: EmailRecord = { entity: "email", userId: user.id };
  const verification = emailJob(organization.id, { kind: "verification", userId: user.id });
  const sendsEmails = config.emailFrom() !== undefined;
  const created = await transact({
    email: insertOf(keys.email(user.email), email),
    account: account.writes,
    verification: sendsEmails ? owedEmail(verification) : [],
    audit: entryOfUser("POST /v1/auth/register", user, sourceIp),
  });
  // All other keys are new, so only the email can be taken.
  if (created.outcome === "rejected") throw new ApiError("EMAIL_TAKEN");
  const [{ session }] = await Promise.all([
    startSession(user, organization, createdAt, userAgent),
    ...(sendsEmails ? [queueOwedEmail(verification)] : []),
  ]);
  return session;
}

/**
 * Counts the registrations of a network. Taken emails count too, because a registration shows whether an email has an
 * account.
 * @throws ApiError RATE_LIMITED
 */
async function countRegistration(network: string): Promise<void> {
  const max = config.registrationsPerAddress();
  if (max !== undefined) await consume({ name: "register-network", max, windowMs: hourMs }, network);
}
