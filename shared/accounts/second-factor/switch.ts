import { ApiError } from "../../api/contract/errors.ts";
import type {
  ConfirmedTotp,
  ConfirmTotpRequest,
  DeletedTotp,
  DeleteTotpRequest,
} from "../../api/contract/second-factor.ts";
import { emailJob, owedEmail, type QueuedEmail } from "../../notices/emails/email-job.ts";
import type { SecondFactorChange } from "../../notices/emails/email-kinds.ts";
import { queueOwedEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { dayMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { keys } from "../../platform/table/keys.ts";
import { checkOf, type Write } from "../../platform/table/write.ts";
import { ownerNotices } from "../../tenancy/organizations/owner-notices.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { readRights } from "../../tenancy/organizations/rights-record.ts";
import { findUser, type UserRecord } from "../../tenancy/users/record.ts";
import { requirePassword } from "../passwords/tries.ts";
import { confirm, findSecondFactor, remove, unusedStepOf } from "./record.ts";
import { requireCode, tryCode } from "./second-factor.ts";

/**
 * How often an account may switch its second factor on in a day. Each switch sends an email, and the address may be a
 * stranger's.
 */
const switchesPerUser: RateLimit = { name: "second-factor-switches", max: 10, windowMs: dayMs };

/**
 * Makes log-ins require the second factor after its first code, and notifies the user by email.
 * @throws ApiError CONFLICT when none was started, or it was confirmed before. INVALID_SECOND_FACTOR, RATE_LIMITED,
 *   UNAUTHORIZED
 */
export async function confirmTotp(
  { userId }: Actor,
  { code }: ConfirmTotpRequest,
  sourceIp: string,
): Promise<ConfirmedTotp> {
  const [user, record] = await Promise.all([findUser(userId), findSecondFactor(userId)]);
  if (user === undefined) throw new ApiError("UNAUTHORIZED");
  if (record === undefined || record.confirmedAt !== undefined) throw nothingToConfirm();
  const step = await tryCode(user, sourceIp, async () => unusedStepOf(record, code));
  await consume(switchesPerUser, userId);
  const recoveryCodes = await tell(user, "enabled", async (also) => confirm(record, step, also));
  if (recoveryCodes === undefined) throw nothingToConfirm();
  return { enabled: true, recoveryCodes };
}

function nothingToConfirm(): ApiError {
  return new ApiError("CONFLICT", { message: "There is no second factor to confirm: start one first." });
}

/**
 * Removes the second factor. If log-ins required it, notifies the user by email.
 * @throws ApiError INVALID_CREDENTIALS, INVALID_SECOND_FACTOR, RATE_LIMITED, UNAUTHORIZED. CONFLICT when there is no
 *   second factor, and when the organization requires one
 */
export async function deleteTotp(
  actor: Actor,
  { secondFactorRequiredAt }: Pick<OrganizationRecord, "secondFactorRequiredAt">,
  { password, code }: DeleteTotpRequest,
  sourceIp: string,
): Promise<DeletedTotp> {
  const user = await requirePassword(actor, password, sourceIp);
  const record = await findSecondFactor(user.id);
  if (record === undefined) throw new ApiError("CONFLICT", { message: "There is no second factor." });
  // An unconfirmed second factor protects no log-in, and a user who has lost its secret has no code.
  if (record.confirmedAt === undefined) {
    const isRemoved = await remove(record, []);
    if (!isRemoved) throw new ApiError("CONFLICT", { message: "The second factor was changed meanwhile." });
  } else {
    // Before the code is used up. The removal checks it again, because an owner may require it meanwhile.
    if (secondFactorRequiredAt !== undefined) throw isRequired();
    await requireCode(user, record, code, sourceIp);
    const organization = checkOf(keys.organization(user.organizationId), {
      absent: ["secondFactorRequiredAt"],
    });
    const removed = await tell(
      user,
      "removed",
      async (also) => ((await remove(record, [organization, ...also])) ? true : undefined),
      await noticesOf(user),
    );
    if (removed === undefined && (await findSecondFactor(user.id)) !== undefined) {
      throw isRequired();
    }
  }
  return { enabled: false };
}

function isRequired(): ApiError {
  return new ApiError("CONFLICT", { message: "Your organization requires a second factor." });
}

/** Returns the emails that notify the other owners that a user switched their second factor off. */
async function noticesOf({ organizationId, email }: UserRecord): Promise<QueuedEmail[]> {
  const rights = await readRights(organizationId);
  return ownerNotices(rights, { what: "secondFactorRemoved", email }, { without: email });
}

/**
 * Makes a change, and notifies the user by email where the stage sends emails.
 * @param change the change that the email reports
 * @param notices emails to other people
 * @param make writes the change together with the given writes, and returns undefined when that is rejected
 */
async function tell<Result>(
  { id: userId, organizationId }: UserRecord,
  change: SecondFactorChange,
  make: (also: readonly Write[]) => Promise<Result | undefined>,
  notices: readonly QueuedEmail[] = [],
): Promise<Result | undefined> {
  if (config.emailFrom() === undefined) return make([]);
  const email = emailJob(organizationId, { kind: "secondFactorChanged", userId, change });
  const emails = [email, ...notices];
  const result = await make(emails.map(owedEmail));
  if (result !== undefined) await queueOwedEmails(emails);
  return result;
}
