import { ApiError } from "../../api/contract/errors.ts";
import type { KycSubmission, SubmitKycRequest } from "../../api/contract/kyc.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { closeReview, openReview } from "../reviews.ts";
import { findKyc, toApiKyc, replaceKyc, type KycRecord } from "./record.ts";

/** Returns an organization's submission, or null. */
export async function getKyc(organizationId: string): Promise<KycSubmission | null> {
  const record = await findKyc(organizationId);
  return record === undefined ? null : toApiKyc(record);
}

/**
 * Submits an organization's business details to the operator. They replace a pending or rejected submission.
 * @throws ApiError CONFLICT when the organization has been approved; UNAVAILABLE when too many other changes came in
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
  return untilUndisturbed(async () => {
    const seen = await findKyc(organizationId);
    if (seen?.status === "approved") {
      throw new ApiError("CONFLICT", { message: "The organization has been approved." });
    }
    const submitted = await transact({
      submission: replaceKyc(seen, record),
      review: openReview("kyc", record.id, organizationId),
      earlierReview: seen?.status === "pending" ? closeReview("kyc", seen.id) : [],
    });
    return submitted.outcome === "committed" ? toApiKyc(record) : undefined;
  });
}
