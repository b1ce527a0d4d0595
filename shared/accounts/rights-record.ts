import * as z from "zod/mini";

import { ApiError } from "../contract/errors.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, putItem, type Update } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import type { OrganizationRecord } from "./organization-record.ts";

/*
 * What decides rights in an organization, beside the roles of its members: who owns it, whose email is verified, and
 * whether its KYC submission is approved. It is an item of its own because only the functions that change rights may write
 * it. Many functions write the organization's own item, where release 0.2 kept these fields: they count for an
 * organization that has no item of rights, and never override one.
 */

const RightsRecord = z.object({
  entity: z.literal("rights"),
  ownerId: z.optional(z.string()),
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

/** The fields of an organization's record that say what rights there are where it has no item of rights. */
type OldFields = Pick<
  OrganizationRecord,
  "emailVerifiedAt" | "id" | "kycApprovedAt" | "ownerId" | "ownerIds" | "verifiedUserIds"
>;

/** The rights in an organization. Eventually consistent unless asked otherwise. */
export async function readRights(
  organization: OldFields,
  options: { consistent?: boolean } = {},
): Promise<Rights> {
  return (await findRights(organization.id, options)) ?? rightsOfOldFields(organization);
}

/**
 * The rights in an organization as they are now, for a caller that changes them: the writes below require the item, so
 * what an older release wrote is moved into it first.
 */
export async function readRightsToChange(organization: OldFields): Promise<Rights> {
  const consistent = { consistent: true };
  const found = await findRights(organization.id, consistent);
  if (found !== undefined) return found;
  const { organizationId, verifiedUserIds, ...fields } = await rightsOfOldFields(organization);
  await putItem({
    put: {
      ...putRights({ organizationId, ...fields }),
      // DynamoDB takes no empty set.
      ...(verifiedUserIds.size > 0 ? { verifiedUserIds } : {}),
    },
    condition: "attribute_not_exists(pk)",
  });
  const moved = await findRights(organizationId, consistent);
  if (moved === undefined) throw new ApiError("UNAVAILABLE");
  return moved;
}

async function findRights(
  organizationId: string,
  options: { consistent?: boolean },
): Promise<Rights | undefined> {
  const record = await findItem(RightsRecord, keys.rights(organizationId), options);
  if (record === undefined) return undefined;
  const { entity: _entity, ...rights } = record;
  return { organizationId, ...rights };
}

const OldKyc = z.object({ status: z.string(), submittedAt: z.string(), decidedAt: z.optional(z.string()) });

async function rightsOfOldFields(organization: OldFields): Promise<Rights> {
  const { id: organizationId, ownerId, ownerIds, emailVerifiedAt } = organization;
  const verifiedUserIds = new Set(organization.verifiedUserIds);
  // The flag of an organization, which any of its owners could set, counts where there was never more than one.
  if (ownerIds === undefined && ownerId !== undefined && emailVerifiedAt !== undefined) {
    verifiedUserIds.add(ownerId);
  }
  // What release 0.2 approved stands in the submission alone.
  const kyc =
    organization.kycApprovedAt === undefined
      ? await findItem(OldKyc, keys.oldKyc(organizationId), { consistent: true })
      : undefined;
  return {
    organizationId,
    ownerId,
    ownerIds: ownerIds ?? (ownerId === undefined ? [] : [ownerId]),
    verifiedUserIds,
    kycApprovedAt:
      organization.kycApprovedAt ??
      (kyc?.status === "approved" ? (kyc.decidedAt ?? kyc.submittedAt) : undefined),
  };
}

/** A new item of rights, with no verified user. */
export function putRights({ organizationId, ...fields }: Omit<Rights, "verifiedUserIds">) {
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
