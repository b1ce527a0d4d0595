import * as z from "zod";

import { findOrganization, replaceDefaultSenderId } from "../accounts/organization-record.ts";
import { ApiError } from "../contract/errors.ts";
import { ReviewStatus } from "../contract/reviews.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { patch } from "../platform/table/patch.ts";
import { queryItems, transact } from "../platform/table/table.ts";
import { closeReview, decided, listReviews, type Decision } from "../reviews/record.ts";

/** A request for a sender ID. Its key is the sender ID itself, so an organisation has one request for each. */
export const SenderIdRecord = z.object({
  entity: z.literal("senderId"),
  id: z.string(),
  organizationId: z.string(),
  senderId: z.string(),
  useCase: z.string().optional(),
  status: ReviewStatus,
  createdAt: z.string(),
  decidedAt: z.string().optional(),
  rejectionReason: z.string().optional(),
});
export type SenderIdRecord = z.infer<typeof SenderIdRecord>;

export const maxSenderIds = 50;

/** How often a change is tried when another one of the organisation's sender IDs comes in between. */
export const changeAttempts = 5;

/** An organisation's requests as they are now, newest first. */
export async function listSenderIdRecords(organizationId: string): Promise<SenderIdRecord[]> {
  const { pk } = keys.organization(organizationId);
  const records = await queryItems(SenderIdRecord, {
    pk,
    from: "SENDER-ID#",
    to: "SENDER-ID#~",
    limit: maxSenderIds,
    consistent: true,
  });
  return records.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** The requests of all organisations that wait for a decision, oldest first. */
export async function* listPendingSenderIds(): AsyncGenerator<SenderIdRecord> {
  for await (const { id, organizationId } of listReviews("sender-ids")) {
    const record = (await listSenderIdRecords(organizationId)).find((each) => each.id === id);
    // One that was decided on since it was listed is left out.
    if (record?.status === "pending") yield record;
  }
}

/**
 * The operator's decision on a request. The first sender ID that is approved becomes the organisation's
 * default. One that has been approved may still be rejected, and is then the default no longer.
 * @throws ApiError NOT_FOUND, also for a request of another organisation; CONFLICT when it has been decided
 *   on; UNAVAILABLE when too many other changes came in between
 */
export async function decideSenderId(
  organizationId: string,
  senderIdId: string,
  decision: Decision,
): Promise<SenderIdRecord> {
  for (let attempt = 1; attempt <= changeAttempts; attempt += 1) {
    const { record: seen, defaultSenderId } = await readSenderId(organizationId, senderIdId);
    const isOpen = seen.status === "pending" || (seen.status === "approved" && !decision.approved);
    if (!isOpen) throw new ApiError("CONFLICT", { message: `The sender ID has been ${seen.status}.` });
    const withoutIt = defaultSenderId === seen.senderId ? undefined : defaultSenderId;
    const fields = decided(decision, now());
    const { update, names, values } = patch(fields);
    const written = await transact([
      {
        key: keys.senderId(organizationId, seen.senderId),
        update,
        condition: "id = :id AND #status = :seenStatus",
        names,
        values: { ...values, ":id": seen.id, ":seenStatus": seen.status },
      },
      replaceDefaultSenderId(
        organizationId,
        defaultSenderId,
        decision.approved ? (defaultSenderId ?? seen.senderId) : withoutIt,
      ),
      ...(seen.status === "pending" ? [closeReview("sender-ids", seen.id)] : []),
    ]);
    if (written.committed) return { ...seen, ...fields };
  }
  throw new ApiError("UNAVAILABLE");
}

/**
 * A request by its id, and the sender ID that is the default, as they are now.
 * @throws ApiError NOT_FOUND, also for a request of another organisation
 */
export async function readSenderId(
  organizationId: string,
  senderIdId: string,
): Promise<{ readonly record: SenderIdRecord; readonly defaultSenderId: string | undefined }> {
  const [records, organization] = await Promise.all([
    listSenderIdRecords(organizationId),
    findOrganization(organizationId, { consistent: true }),
  ]);
  const record = records.find(({ id }) => id === senderIdId);
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return { record, defaultSenderId: organization?.defaultSenderId };
}
