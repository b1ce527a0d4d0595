import * as z from "zod";

import { ApiError } from "../contract/errors.ts";
import { ReviewStatus } from "../contract/reviews.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { patch } from "../platform/table/patch.ts";
import { readItem, transact } from "../platform/table/table.ts";
import { closeReview, decided, listReviews, type Decision } from "../reviews/record.ts";

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

/** An organisation's submission as it is now, or undefined where there is none. */
export async function findKyc(organizationId: string): Promise<KycRecord | undefined> {
  return readItem(KycRecord, keys.kyc(organizationId), { consistent: true });
}

/** The submissions of all organisations that wait for a decision, oldest first. */
export async function* listPendingKyc(): AsyncGenerator<KycRecord> {
  for await (const { id, organizationId } of listReviews("kyc")) {
    const record = await findKyc(organizationId);
    // One that was decided on or replaced since it was listed is left out.
    if (record?.id === id && record.status === "pending") yield record;
  }
}

/**
 * The operator's decision on the submission that the operator has seen, which is named because the customer may
 * have replaced it since.
 * @throws ApiError NOT_FOUND where there is none, CONFLICT when it is not pending, or no longer;
 *   UNAVAILABLE when too many others came in between
 */
export async function decideKyc(
  organizationId: string,
  submissionId: string,
  decision: Decision,
): Promise<KycRecord> {
  const seen = await findKyc(organizationId);
  if (seen === undefined) throw new ApiError("NOT_FOUND");
  if (seen.id !== submissionId) {
    throw new ApiError("CONFLICT", { message: "The submission has been replaced by another one." });
  }
  const fields = decided(decision, now());
  const { update, names, values } = patch(fields);
  const written = await transact([
    {
      key: keys.kyc(organizationId),
      update,
      condition: "id = :id AND #status = :pending",
      names,
      values: { ...values, ":id": seen.id, ":pending": "pending" },
    },
    closeReview("kyc", seen.id),
  ]);
  if (written.committed) return { ...seen, ...fields };
  if (written.refusals[0] === undefined) throw new ApiError("UNAVAILABLE");
  throw new ApiError("CONFLICT", { message: "The submission is not pending." });
}
