import * as z from "zod/mini";

import { keys, type ReviewKind } from "../platform/table/keys.ts";
import { queryRows, type Row } from "../platform/table/read.ts";
import { type Put, type Write, deleteOf, putOf } from "../platform/table/write.ts";

/** The operator's decision on a pending request. */
export type Decision = { readonly approved: true } | { readonly approved: false; readonly reason: string };

/** The entry of a pending request in the operator's list, over all organizations. */
export const ReviewRecord = z.object({
  entity: z.literal("review"),
  organizationId: z.string(),
});
type ReviewRecord = z.infer<typeof ReviewRecord>;

/** Returns the write that adds a request to the operator's list, for the transaction that makes the request pending. */
export function openReview(kind: ReviewKind, id: string, organizationId: string): Put {
  const record: ReviewRecord = { entity: "review", organizationId };
  return putOf(keys.review(kind, id), record);
}

/** Returns the write that removes a request from the list, for the transaction that ends its pending status. */
export function closeReview(kind: ReviewKind, id: string): Write {
  return deleteOf(keys.review(kind, id));
}

/** Returns the fields that a decision sets. */
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

/** Lists the pending requests, oldest first, and reads a hundred at a time. */
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
