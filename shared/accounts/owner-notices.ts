import { emailJob, type OwnerNotice } from "../emails/email-job.ts";
import { config } from "../platform/config.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import type { Rights } from "./rights-record.ts";
import { findUser } from "./user-record.ts";

/**
 * The emails that tell all owners of an organization of a change, one to each; none where the stage sends no emails. Each
 * is owed from the transaction of the change: an organization has 50 members at most, so all fit into it.
 * @param rights before the change: who is no longer an owner after it is told too
 * @param options `without` is the address of somebody who is told in another way
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
