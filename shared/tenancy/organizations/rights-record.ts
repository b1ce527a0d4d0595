import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { insertOf, type Put, type Update, updateOf } from "../../platform/table/write.ts";

/*
 * The rights in an organization, besides the roles of its members: its owners, the verified emails, and the approval of
 * its KYC submission. They have an item of their own, because many functions write the organization's item, and only
 * the functions that change rights may write this one.
 */

export const RightsRecord = z.object({
  entity: z.literal("rights"),
  ownerId: z.string(),
  ownerIds: z.array(z.string()),
  verifiedUserIds: z._default(z.set(z.string()), new Set()),
  kycApprovedAt: z.optional(z.string()),
});

export interface Rights {
  readonly organizationId: string;
  /**
   * The owner who receives emails and messages of the operator: the one who registered the organization, while they own
   * it.
   */
  readonly ownerId?: string | undefined;
  /** All owners. */
  readonly ownerIds: readonly string[];
  /** The users with a verified email. */
  readonly verifiedUserIds: ReadonlySet<string>;
  /** ISO 8601: when the KYC submission was approved, if it still is. */
  readonly kycApprovedAt?: string | undefined;
}

/** Reads the rights in an organization, which are empty if it does not exist. Eventually consistent by default. */
export async function readRights(
  organizationId: string,
  options: { consistent?: boolean } = {},
): Promise<Rights> {
  const record = await findItem(RightsRecord, keys.rights(organizationId), options);
  if (record === undefined) return { organizationId, ownerIds: [], verifiedUserIds: new Set() };
  const { entity: _entity, ...rights } = record;
  return { organizationId, ...rights };
}

/** Returns the write of the rights in a new organization. */
export function insertRights(organizationId: string, ownerId: string, { isVerified = false } = {}): Put {
  const verified = isVerified ? { verifiedUserIds: new Set([ownerId]) } : {};
  return insertOf(keys.rights(organizationId), {
    entity: "rights",
    ownerId,
    ownerIds: [ownerId],
    ...verified,
  });
}

/** Reports whether a user's email is verified. */
export function isEmailVerified(userId: string, { verifiedUserIds }: Rights): boolean {
  return verifiedUserIds.has(userId);
}

/** Reports whether the email of an organization's owner is verified. */
export function isOwnerVerified({
  ownerId,
  verifiedUserIds,
}: Pick<Rights, "ownerId" | "verifiedUserIds">): boolean {
  return ownerId !== undefined && verifiedUserIds.has(ownerId);
}

/**
 * Returns the write that replaces the owners that were seen. If two changes happen at the same moment, one is rejected
 * and has to read the owners again.
 * @param changes other changes of the rights
 * @throws ApiError LAST_OWNER when no owner would be left
 */
export function replaceOwners(
  seen: Rights,
  ownerIds: readonly string[],
  changes: Changes<"rights"> = {},
): Update<"rights"> {
  const [first] = ownerIds;
  if (first === undefined) throw new ApiError("LAST_OWNER");
  const { ownerId } = seen;
  const next = ownerId !== undefined && ownerIds.includes(ownerId) ? ownerId : first;
  return updateOf(
    keys.rights(seen.organizationId),
    { ...changes, set: { ...changes.set, ownerIds, ownerId: next } },
    { is: { ownerIds: seen.ownerIds } },
  );
}

/** Returns the write that changes rights, except the owners. */
export function changeRights(organizationId: string, changes: Changes<"rights">): Update<"rights"> {
  return updateOf(keys.rights(organizationId), changes, { present: ["pk"] });
}

/** Returns the write that stores the time of the KYC approval, or removes it. */
export function noteKycApproval(organizationId: string, approvedAt: string | undefined): Update<"rights"> {
  return changeRights(
    organizationId,
    approvedAt === undefined ? { remove: ["kycApprovedAt"] } : { set: { kycApprovedAt: approvedAt } },
  );
}
