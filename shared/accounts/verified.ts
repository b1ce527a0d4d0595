import type { OrganizationRecord } from "./organization-record.ts";
import type { UserRecord } from "./user-record.ts";

/*
 * Whose email is known to be theirs. That belongs to a user, and their record says so. The organization's record repeats
 * it in `verifiedUserIds`, for a send reads that record and not its owner's: the policy asks whether the owner of the
 * moment is among them, so that a change of owners needs no change of the set. Both are written in one transaction.
 */

/** Whether it is known that a user's email is theirs. */
export function isEmailVerified(
  user: Pick<UserRecord, "emailVerifiedAt" | "id">,
  organization: OrganizationRecord,
): boolean {
  return user.emailVerifiedAt !== undefined || isListed(user.id, organization);
}

/** Whether it is known that the email of an organization's owner is theirs. */
export function isOwnerVerified(organization: OrganizationRecord): boolean {
  return organization.ownerId !== undefined && isListed(organization.ownerId, organization);
}

function isListed(
  userId: string,
  { ownerId, ownerIds, verifiedUserIds, emailVerifiedAt }: OrganizationRecord,
): boolean {
  if (verifiedUserIds?.has(userId) === true) return true;
  // The flag of an organization, which any of its owners could set, counts where there was never more than one.
  return ownerIds === undefined && ownerId === userId && emailVerifiedAt !== undefined;
}
