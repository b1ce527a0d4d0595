import { emailJob, owedEmail } from "../emails/email-job.ts";
import { untilUndisturbed } from "../platform/table/table.ts";
import { findSecondFactor, remove } from "./second-factor-record.ts";
import type { UserRecord } from "./user-record.ts";

/**
 * Takes away whatever second factor a user has, also one that nobody has a code of. Where log-ins needed it, they are told by
 * email within twenty minutes: that is written with the deed, and the operator's machine queues nothing.
 * @returns whether log-ins needed it
 * @throws ApiError UNAVAILABLE when it is disturbed again and again
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
