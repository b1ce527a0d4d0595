import type { OrganizationRecord } from "../accounts/organizations/record.ts";
import { ApiError } from "../contract/errors.ts";
import type { HeldMessage } from "../contract/held-messages.ts";
import { AcceptedMessage } from "../contract/sms.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem, updateOf, type Update } from "../platform/table/write.ts";
import { acceptMessage, type AcceptOptions } from "./accept-one.ts";
import { getHeldMessage, HeldMessageRecord, readHeldMessage, toApiHeldMessage } from "./held.ts";

/**
 * Accepts a held message on behalf of a person, or rejects it. The message and the decision are one transaction, so that a
 * held message is accepted at most once. The limits of its key do not apply, and a schedule that has passed means now.
 * @throws ApiError INSUFFICIENT_SCOPE for an API key; NOT_FOUND; CONFLICT for one that was decided; and the errors of
 *   `acceptMessage`
 */
export async function decideHeldMessage(
  organization: OrganizationRecord,
  heldId: string,
  isApproved: boolean,
  { actor, reportRateLimit }: AcceptOptions & { readonly actor: Actor },
): Promise<HeldMessage> {
  if (actor.credential.type !== "session") {
    throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only a person can decide about a held message." });
  }
  const held = await readHeldMessage(organization.id, heldId);
  if (held.status !== "held") throw decidedBefore();
  const decided = (fields: Partial<HeldMessageRecord>): Update =>
    updateOf(
      keys.heldMessage(organization.id, heldId),
      { set: { ...fields, decidedAt: now().toISOString(), decidedBy: actor.userId } },
      { is: { status: "held" } },
    );
  if (!isApproved) {
    const rejected = await updateItem(HeldMessageRecord, decided({ status: "rejected" }));
    if (!rejected.applied) throw decidedBefore();
    return toApiHeldMessage(rejected.item);
  }
  const { to, message, senderId, language, messageType, scheduledAt, expiresInSeconds } = held;
  const isLater = scheduledAt !== undefined && Date.parse(scheduledAt) > now().getTime();
  const request = { to, message, senderId, language, messageType, expiresInSeconds };
  await acceptMessage(organization, isLater ? { ...request, scheduledAt } : request, {
    actor,
    reportRateLimit,
    attempt: {
      complete: (accepted) => decided({ status: "approved", messageId: AcceptedMessage.parse(accepted).id }),
    },
  });
  return getHeldMessage(organization.id, heldId);
}

function decidedBefore(): ApiError {
  return new ApiError("CONFLICT", { message: "This message was approved or rejected before." });
}
