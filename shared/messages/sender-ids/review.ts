import { ApiError } from "../../api/contract/errors.ts";
import { owedDecision } from "../../notices/emails/email-job.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { updateOf, type Write } from "../../platform/table/write.ts";
import { replaceDefaultSenderId } from "../../tenancy/organizations/record.ts";
import { closeReview, decided, listReviews, type Decision } from "../../tenancy/reviews.ts";
import { giveUpName, holdersOf, takeName } from "./names.ts";
import { readSenderId, readSenderIds, type SenderIdRecord } from "./record.ts";

/** Lists the pending requests of all organizations, oldest first. */
export async function* listPendingSenderIds(): AsyncGenerator<SenderIdRecord> {
  for await (const { id, organizationId } of listReviews("sender-ids")) {
    const record = (await readSenderIds(organizationId)).find((each) => each.id === id);
    // A request that was decided on after the listing is left out.
    if (record?.status === "pending") yield record;
  }
}

/**
 * Records the operator's decision on a request. The first approved sender ID becomes the organization's default. An
 * approved one may still be rejected; it is then not the default, and other organizations may have it.
 * @param isShared whether it may be approved although another organization has it
 * @throws ApiError NOT_FOUND, also for a request of another organization. CONFLICT when it has been decided on, or
 *   another organization has it. UNAVAILABLE when too many other changes came in between.
 */
export async function decideSenderId(
  organizationId: string,
  senderIdId: string,
  decision: Decision,
  { isShared = false }: { readonly isShared?: boolean } = {},
): Promise<SenderIdRecord> {
  return untilUndisturbed(async () => {
    const { record: seen, defaultSenderId } = await readSenderId(organizationId, senderIdId);
    const isOpen = seen.status === "pending" || (seen.status === "approved" && !decision.approved);
    if (!isOpen) throw new ApiError("CONFLICT", { message: `The sender ID has been ${seen.status}.` });
    const withoutIt = defaultSenderId === seen.senderId ? undefined : defaultSenderId;
    const fields = decided(decision, now());
    const written = await transact({
      request: updateOf(
        keys.senderId(organizationId, seen.senderId),
        { set: fields },
        { is: { id: seen.id, status: seen.status } },
      ),
      defaultSenderId: replaceDefaultSenderId(
        organizationId,
        defaultSenderId,
        decision.approved ? (defaultSenderId ?? seen.senderId) : withoutIt,
      ),
      name: nameWrites(seen, decision, isShared),
      review: seen.status === "pending" ? closeReview("sender-ids", seen.id) : [],
      email: owedDecision(organizationId, seen.id),
    });
    if (written.outcome === "committed") return { ...seen, ...fields };
    const { request, name } = written.rejections;
    if (request === undefined && name !== undefined) {
      throw new ApiError("CONFLICT", { message: conflictText(seen, holdersOf(name.found)) });
    }
    return undefined;
  });
}

/** Returns the writes of a decision to the name. A rejected pending request has none. */
function nameWrites(
  { organizationId, senderId, status }: SenderIdRecord,
  { approved }: Decision,
  isShared: boolean,
): Write[] {
  if (approved) return [takeName(organizationId, senderId, isShared)];
  return status === "approved" ? [giveUpName(organizationId, senderId)] : [];
}

function conflictText({ senderId }: SenderIdRecord, organizationIds: readonly string[]): string {
  return `The sender ID ${senderId} is approved for another organization: ${organizationIds.join(", ")}.`;
}
