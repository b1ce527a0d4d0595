import { emailJob, type OwnerNotice } from "../../emails/email-job.ts";
import { config } from "../../platform/config.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { findUser } from "../users/record.ts";
import type { Rights } from "./rights-record.ts";

/**
 * Returns the emails that notify all owners of an organization, one for each owner. There are none where the stage
 * sends no emails. The transaction of the change stores them: an organization has at most 50 members, so all emails fit
 * into it.
 * @param rights before the change, so that a former owner is notified too
 * @param options `without` is the address of an owner who is notified in another way
 */
export async function ownerNotices(
  { organizationId, ownerIds }: Rights,
  notice: OwnerNotice,
  { without }: { readonly without?: string } = {},
): Promise<QueuedJob[]> {
  if (config.emailFrom() === undefined) return [];
  const owners = await Promise.all(ownerIds.map(async (ownerId) => findUser(ownerId)));
  const addresses = owners.flatMap((owner) => owner?.email ?? []).filter((address) => address !== without);
  return addresses.map((to) => emailJob(organizationId, { kind: "ownerNotice", to, notice }));
}
