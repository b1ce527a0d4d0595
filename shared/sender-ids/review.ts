import { replaceDefaultSenderId } from "../accounts/organization-record.ts";
import { ApiError } from "../contract/errors.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { closeReview, decided, listReviews, type Decision } from "../reviews/record.ts";
import { readSenderId, readSenderIds, type SenderIdRecord } from "./record.ts";

/** The requests of all organisations that wait for a decision, oldest first. */
export async function* listPendingSenderIds(): AsyncGenerator<SenderIdRecord> {
  for await (const { id, organizationId } of listReviews("sender-ids")) {
    const record = (await readSenderIds(organizationId)).find((each) => each.id === id);
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
  return untilUndisturbed(async () => {
    const { record: seen, defaultSenderId } = await readSenderId(organizationId, senderIdId);
    const isOpen = seen.status === "pending" || (seen.status === "approved" && !decision.approved);
    if (!isOpen) throw new ApiError("CONFLICT", { message: `The sender ID has been ${seen.status}.` });
    const withoutIt = defaultSenderId === seen.senderId ? undefined : defaultSenderId;
    const fields = decided(decision, now());
    const written = await transact([
      updateOf(
        keys.senderId(organizationId, seen.senderId),
        { set: fields },
        { is: { id: seen.id, status: seen.status } },
      ),
      replaceDefaultSenderId(
        organizationId,
        defaultSenderId,
        decision.approved ? (defaultSenderId ?? seen.senderId) : withoutIt,
      ),
      ...(seen.status === "pending" ? [closeReview("sender-ids", seen.id)] : []),
    ]);
    return written.outcome === "committed" ? { ...seen, ...fields } : undefined;
  });
}
