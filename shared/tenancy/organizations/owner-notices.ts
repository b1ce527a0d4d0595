import { scopesOfRole, type Role } from "../../api/contract/scopes.ts";
import { emailJob, type QueuedEmail } from "../../notices/emails/email-job.ts";
import type { ChangeForOwners, OwnerNotice } from "../../notices/emails/email-kinds.ts";
import { config } from "../../platform/config.ts";
import { findUser } from "../users/record.ts";
import { readRights, type Rights } from "./rights-record.ts";

/**
 * Returns the emails that notify all owners of an organization, one for each owner with a verified address. There are none
 * where the stage sends no emails. The transaction of the change stores them: an organization has at most 50 members, so all emails fit
 * into it.
 * @param rights before the change, so that a former owner is notified too
 * @param options `without` is the address of an owner who is notified in another way
 */
export async function ownerNotices(
  { organizationId, ownerIds }: Rights,
  notice: OwnerNotice,
  { without }: { readonly without?: string } = {},
): Promise<QueuedEmail[]> {
  if (config.emailFrom() === undefined) return [];
  const owners = await Promise.all(ownerIds.map(async (ownerId) => findUser(ownerId)));
  return owners.flatMap((owner) => {
    if (owner?.emailVerifiedAt === undefined || owner.email === without) return [];
    return emailJob(organizationId, { kind: "ownerNotice", to: owner.email, notice });
  });
}

/** Returns the emails that notify all owners of a change of what costs money, or of who gets to know of it. */
export async function changeNotices(organizationId: string, what: ChangeForOwners): Promise<QueuedEmail[]> {
  return ownerNotices(await readRights(organizationId), { what });
}

/** Returns the emails about a person who gets a role that may make keys or add members; none for another role. */
export async function roleNotices(
  rights: Rights,
  change: "Added" | "Invited",
  { email, role }: { readonly email: string; readonly role: Role },
): Promise<QueuedEmail[]> {
  if (role === "owner") return ownerNotices(rights, { what: `owner${change}`, email });
  if (!scopesOfRole[role].includes("keys")) return [];
  return ownerNotices(rights, { what: `member${change}`, email, role });
}
