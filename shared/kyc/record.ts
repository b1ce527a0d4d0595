import * as z from "zod";

import type { KycSubmission } from "../contract/kyc.ts";
import { ReviewStatus } from "../contract/reviews.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/table.ts";

/** The one submission of an organisation. A new one has a new id, so a decision on an old one is refused. */
export const KycRecord = z.object({
  entity: z.literal("kyc"),
  id: z.string(),
  organizationId: z.string(),
  status: ReviewStatus,
  businessName: z.string(),
  registrationNumber: z.string().optional(),
  country: z.string().optional(),
  address: z.string().optional(),
  contactName: z.string().optional(),
  website: z.string().optional(),
  submittedAt: z.string(),
  decidedAt: z.string().optional(),
  rejectionReason: z.string().optional(),
});
export type KycRecord = z.infer<typeof KycRecord>;

/** An organisation's submission as it is now. */
export async function findKyc(organizationId: string): Promise<KycRecord | undefined> {
  return findItem(KycRecord, keys.kyc(organizationId), { consistent: true });
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
