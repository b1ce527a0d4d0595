import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import { owedDecision } from "../../notices/emails/email-job.ts";
import { now } from "../../platform/clock.ts";
import { transact } from "../../platform/table/transact.ts";
import { noteKycApproval } from "../organizations/rights-record.ts";
import { closeReview, decided, listReviews, type Decision } from "../reviews.ts";
import { findKyc, replaceKyc, type KycRecord } from "./record.ts";

/** Lists the pending submissions of all organizations, oldest first. */
export async function* listPendingKyc(): AsyncGenerator<KycRecord> {
  for await (const { id, organizationId } of listReviews("kyc")) {
    const record = await findKyc(organizationId);
    // A submission that was decided on or replaced after the listing is left out.
    if (record?.id === id && record.status === "pending") yield record;
  }
}

/**
 * Records the operator's decision on a submission, which is named because the customer may have replaced it. An
 * approved one may still be rejected.
 * @throws ApiError NOT_FOUND where there is none; CONFLICT when it has been decided on or replaced; UNAVAILABLE
 */
export async function decideKyc(
  organizationId: string,
  submissionId: string,
  decision: Decision,
): Promise<KycRecord> {
  const seen = orNotFound(await findKyc(organizationId));
  if (seen.id !== submissionId) {
    throw new ApiError("CONFLICT", { message: "The submission has been replaced by another one." });
  }
  const isOpen = seen.status === "pending" || (seen.status === "approved" && !decision.approved);
  if (!isOpen) throw new ApiError("CONFLICT", { message: `The submission has been ${seen.status}.` });
  const fields = decided(decision, now());
  const record: KycRecord = { ...seen, ...fields };
  const written = await transact({
    submission: replaceKyc(seen, record),
    approval: noteKycApproval(organizationId, decision.approved ? fields.decidedAt : undefined),
    review: seen.status === "pending" ? closeReview("kyc", seen.id) : [],
    email: owedDecision(organizationId),
  });
  if (written.outcome === "committed") return record;
  throw new ApiError("CONFLICT", {
    message: "The submission was decided on or replaced at the same moment.",
  });
}
