import * as z from "zod/mini";

import { ApiError } from "../contract/errors.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Update } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";

/*
 * The rights in an organization, beside the roles of its members: who owns it, whose email is verified, and whether its KYC
 * submission is approved. They have an item of their own, because many functions write the organization's item, and only
 * the functions that change rights may write this one.
 */

const RightsRecord = z.object({
  entity: z.literal("rights"),
  ownerId: z.string(),
  ownerIds: z.array(z.string()),
  verifiedUserIds: z._default(z.set(z.string()), new Set()),
  kycApprovedAt: z.optional(z.string()),
});

export interface Rights {
  readonly organizationId: string;
  /** The owner whom the operator and emails contact: who registered the organization, for as long as they own it. */
  readonly ownerId?: string | undefined;
  /** All owners. */
  readonly ownerIds: readonly string[];
  /** The users whose email is known to be theirs. */
  readonly verifiedUserIds: ReadonlySet<string>;
  /** ISO 8601: when the KYC submission was approved, if it still is. */
  readonly kycApprovedAt?: string | undefined;
}

/** The rights in an organization: no one has any in one that is not there. Eventually consistent by default. */
export async function readRights(
  organizationId: string,
  options: { consistent?: boolean } = {},
): Promise<Rights> {
  const record = await findItem(RightsRecord, keys.rights(organizationId), options);
  if (record === undefined) return { organizationId, ownerIds: [], verifiedUserIds: new Set() };
  const { entity: _entity, ...rights } = record;
  return { organizationId, ...rights };
}

/** A new item of rights, with no verified user. */
export function putRights({
  organizationId,
  ...fields
}: Omit<Rights, "ownerId" | "verifiedUserIds"> & { readonly ownerId: string }) {
  return { ...keys.rights(organizationId), entity: "rights" satisfies RightsEntity, ...fields };
}
type RightsEntity = z.infer<typeof RightsRecord>["entity"];

/** Whether it is known that a user's email is theirs. */
export function isEmailVerified(userId: string, { verifiedUserIds }: Rights): boolean {
  return verifiedUserIds.has(userId);
}

/** Whether it is known that the email of an organization's owner is theirs. */
export function isOwnerVerified({
  ownerId,
  verifiedUserIds,
}: Pick<Rights, "ownerId" | "verifiedUserIds">): boolean {
  return ownerId !== undefined && verifiedUserIds.has(ownerId);
}

/**
 * The write that replaces the owners that were seen: of two that change the owners at the same moment one is refused, and
 * has to look again.
 * @param changes what else changes in the rights
 * @throws ApiError LAST_OWNER when no owner would be left
 */
export function replaceOwners(seen: Rights, ownerIds: readonly string[], changes: Changes = {}): Update {
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

/** The write that changes rights other than who the owners are. */
export function changeRights(organizationId: string, changes: Changes): Update {
  return updateOf(keys.rights(organizationId), changes, { present: ["pk"] });
}

/** The write that notes since when the KYC submission is approved, or that it no longer is. */
export function noteKycApproval(organizationId: string, approvedAt: string | undefined): Update {
  return changeRights(
    organizationId,
    approvedAt === undefined ? { remove: ["kycApprovedAt"] } : { set: { kycApprovedAt: approvedAt } },
  );
}
