import { emailJob, owedEmail } from "../../notices/emails/email-job.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";
import { findSecondFactor, remove } from "./record.ts";

/**
 * Removes the second factor of a user, also an unconfirmed one. If log-ins required it, the user gets an email within
 * twenty minutes. The email is stored with the removal, because the operator's machine queues nothing.
 * @returns whether log-ins required it
 * @throws ApiError UNAVAILABLE when other changes interfere in every attempt
 */
export async function resetSecondFactor({ id: userId, organizationId }: UserRecord): Promise<boolean> {
  const email = emailJob(organizationId, { kind: "secondFactorChanged", userId, change: "reset" });
  return untilUndisturbed(async () => {
    const record = await findSecondFactor(userId);
    if (record === undefined) return false;
    const wasNeeded = record.confirmedAt !== undefined;
    return (await remove(record, wasNeeded ? [owedEmail(email)] : [])) ? wasNeeded : undefined;
  });
}
