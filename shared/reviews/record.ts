import * as z from "zod/mini";

import { keys, type ReviewKind } from "../platform/table/keys.ts";
import { queryRows, type Put, type Row, type Write } from "../platform/table/table.ts";

/** What an operator says to something that is pending. */
export type Decision = { readonly approved: true } | { readonly approved: false; readonly reason: string };

/** A pending thing's place in the list of what is to be decided on, over all organisations. */
const ReviewRecord = z.object({
  entity: z.literal("review"),
  organizationId: z.string(),
});
type ReviewRecord = z.infer<typeof ReviewRecord>;

/** The write that puts something on the operator's list. It belongs into the transaction that makes it pending. */
export function openReview(kind: ReviewKind, id: string, organizationId: string): Put {
  const record: ReviewRecord = { entity: "review", organizationId };
  return { put: { ...keys.review(kind, id), ...record } };
}

/** The write that takes it off the list. It belongs into the transaction after which it is no longer pending. */
export function closeReview(kind: ReviewKind, id: string): Write {
  return { delete: keys.review(kind, id) };
}

/** The fields that a decision sets. */
export function decided(
  decision: Decision,
  at: Date,
): {
  readonly status: "approved" | "rejected";
  readonly decidedAt: string;
  readonly rejectionReason: string | undefined;
} {
  return {
    status: decision.approved ? "approved" : "rejected",
    decidedAt: at.toISOString(),
    rejectionReason: decision.approved ? undefined : decision.reason,
  };
}

/** Whatever is pending, oldest first, read a hundred at a time. */
export async function* listReviews(
  kind: ReviewKind,
): AsyncGenerator<{ readonly id: string; readonly organizationId: string }> {
  const limit = 100;
  const { pk } = keys.review(kind, "");
  let batch: Row<ReviewRecord>[] = [];
  do {
    batch = await queryRows(ReviewRecord, { pk, after: batch.at(-1)?.key.sk, limit, consistent: true });
    // Ids sort by time, so the oldest comes first.
    for (const { key, item } of batch) {
      if (item !== undefined) yield { id: key.sk, organizationId: item.organizationId };
    }
  } while (batch.length === limit);
}
