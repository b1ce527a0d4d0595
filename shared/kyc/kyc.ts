import { ApiError } from "../contract/errors.ts";
import type { KycSubmission, SubmitKycRequest } from "../contract/kyc.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { transact } from "../platform/table/table.ts";
import { closeReview, openReview } from "../reviews/record.ts";
import { findKyc, type KycRecord } from "./review.ts";

/** How often a submission is tried when another one, or a decision, comes in between. */
const submissionAttempts = 5;

/** An organisation's submission, or null. */
export async function getKyc(organizationId: string): Promise<KycSubmission | null> {
  const record = await findKyc(organizationId);
  return record === undefined ? null : presentKyc(record);
}

/**
 * Submits an organisation's particulars to the operator. They take the place of what is pending or was
 * rejected.
 * @throws ApiError CONFLICT when the organisation has been approved; UNAVAILABLE when too many others came in
 *   between
 */
export async function submitKyc(organizationId: string, request: SubmitKycRequest): Promise<KycSubmission> {
  const record: KycRecord = {
    entity: "kyc",
    id: newId("kyc"),
    organizationId,
    status: "pending",
    ...request,
    submittedAt: now().toISOString(),
  };
  for (let attempt = 1; attempt <= submissionAttempts; attempt += 1) {
    const seen = await findKyc(organizationId);
    if (seen?.status === "approved") {
      throw new ApiError("CONFLICT", { message: "The organisation has been approved." });
    }
    const submitted = await transact([
      { put: { ...keys.kyc(organizationId), ...record }, ...unchangedSince(seen) },
      openReview("kyc", record.id, organizationId),
      ...(seen?.status === "pending" ? [closeReview("kyc", seen.id)] : []),
    ]);
    if (submitted.committed) return presentKyc(record);
  }
  throw new ApiError("UNAVAILABLE");
}

function unchangedSince(seen: KycRecord | undefined) {
  if (seen === undefined) return { condition: "attribute_not_exists(pk)" };
  return {
    condition: "id = :seenId AND #status = :seenStatus",
    names: { "#status": "status" },
    values: { ":seenId": seen.id, ":seenStatus": seen.status },
  };
}

function presentKyc(record: KycRecord): KycSubmission {
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
