import * as z from "zod/mini";

import type { KycSubmission } from "../contract/kyc.ts";
import { ReviewStatus } from "../contract/reviews.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Write } from "../platform/table/table.ts";

/** The one submission of an organisation. A new one has a new id, so a decision on an old one is refused. */
export const KycRecord = z.object({
  entity: z.literal("kyc"),
  id: z.string(),
  organizationId: z.string(),
  status: ReviewStatus,
  businessName: z.string(),
  registrationNumber: z.optional(z.string()),
  country: z.optional(z.string()),
  address: z.optional(z.string()),
  contactName: z.optional(z.string()),
  website: z.optional(z.string()),
  submittedAt: z.string(),
  decidedAt: z.optional(z.string()),
  rejectionReason: z.optional(z.string()),
});
export type KycRecord = z.infer<typeof KycRecord>;

/** An organization's submission as it is now. */
export async function findKyc(organizationId: string): Promise<KycRecord | undefined> {
  return (await findStoredKyc(organizationId)).record;
}

interface StoredKyc {
  readonly record?: KycRecord | undefined;
  /** Whether release 0.2 wrote it, into an item that many functions may write. */
  readonly isOld: boolean;
}

/** The same, with the item that it stands in. */
export async function findStoredKyc(organizationId: string): Promise<StoredKyc> {
  const consistent = { consistent: true };
  const record = await findItem(KycRecord, keys.kyc(organizationId), consistent);
  if (record !== undefined) return { record, isOld: false };
  const old = await findItem(KycRecord, keys.oldKyc(organizationId), consistent);
  return { record: old, isOld: old !== undefined };
}

/**
 * The writes that replace the submission that was seen. They are refused when it was decided on or replaced meanwhile.
 * What release 0.2 wrote is moved to where it belongs now.
 */
export function replaceKyc({ record: seen, isOld }: StoredKyc, next: KycRecord): Write[] {
  const put = { ...keys.kyc(next.organizationId), ...next };
  const asSeen = seen && {
    condition: "id = :seenId AND #status = :seenStatus",
    names: { "#status": "status" },
    values: { ":seenId": seen.id, ":seenStatus": seen.status },
  };
  if (asSeen !== undefined && !isOld) return [{ put, ...asSeen }];
  return [
    { put, condition: "attribute_not_exists(pk)" },
    ...(asSeen === undefined ? [] : [{ delete: keys.oldKyc(next.organizationId), ...asSeen }]),
  ];
}

export function presentKyc(record: KycRecord): KycSubmission {
  return {
    id: record.id,
    status: record.status,
    businessName: record.businessName,
    registrationNumber: record.registrationNumber,
    country: record.country,
    address: record.address,
    contactName: record.contactName,
    website: record.website,
    submittedAt: record.submittedAt,
    decidedAt: record.decidedAt,
    rejectionReason: record.rejectionReason,
  };
}
