import { randomUUID } from "node:crypto";

import { ApiError, type RateLimitStatus } from "../../api/contract/errors.ts";
import type { HeldMessage, HeldMessageDecision } from "../../api/contract/held-messages.ts";
import { readPrices } from "../../money/prices/prices.ts";
import { microsOf, moneyText } from "../../money/wallet/money.ts";
import { requireSession, type Actor } from "../../platform/auth/actor.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { acquireLease, hasLease, newLease, releaseLease, whileFree } from "../../platform/table/lease.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { withoutCode } from "../message/transitions.ts";
import { commit } from "./commit.ts";
import { reserveDestinations } from "./destination-limits.ts";
import { getHeldMessage, HeldMessageRecord, readHeldMessage, toApiHeldMessage } from "./held.ts";
import { newMessage } from "./new-message.ts";
import { placeOf } from "./place.ts";
import { checkMessage } from "./policies.ts";
import { reserveRecipient } from "./recipient-limits.ts";
import { endBy, reserveAll } from "./reservations.ts";

/** How long an approval that crashed prevents another decision. It is longer than any request takes. */
const leaseMs = minuteMs;

interface Deciding {
  readonly actor: Actor;
  readonly reportRateLimit: (status: RateLimitStatus | undefined) => void;
}

/**
 * Accepts a held message on behalf of a person, or rejects it. An approval acquires a lease before the charge, so that only one
 * charges at a time. The message and the decision are one transaction that requires the lease. The limits of its key do not
 * apply, and a schedule that has passed means now.
 * @throws ApiError INSUFFICIENT_SCOPE for an API key; NOT_FOUND; the errors of `acceptMessage`. CONFLICT if another call
 *   decided or is deciding, and if it costs more than the person saw: without `total`, more than when it was held
 */
export async function decideHeldMessage(
  organization: OrganizationRecord,
  heldId: string,
  { approve, total }: HeldMessageDecision,
  { actor, reportRateLimit }: Deciding,
): Promise<HeldMessage> {
  requireSession(actor);
  const at = now();
  const found = await readHeldMessage(organization.id, heldId);
  if (found.status !== "held") throw decidedBefore();
  const decided = { decidedAt: at.toISOString(), decidedBy: actor.userId, ...withoutCode(found) };
  const isHeld = { is: { status: "held" } } as const;
  const key = keys.heldMessage(organization.id, heldId);
  if (!approve) {
    const set = { status: "rejected", rejectionId: randomUUID(), ...decided } as const;
    const rejected = await updateItem(HeldMessageRecord, updateOf(key, { set }, whileFree(at, isHeld)), {
      isOwn: ({ rejectionId }) => rejectionId === set.rejectionId,
    });
    if (!rejected.applied) throw decidedBefore();
    return toApiHeldMessage(rejected.item);
  }
  const lease = newLease(at, leaseMs);
  const acquired = await updateItem(HeldMessageRecord, acquireLease(key, lease, at, { requires: isHeld }), {
    isOwn: hasLease(lease),
  });
  if (!acquired.applied) throw decidedBefore();
  const held = acquired.item;
  const { heldMicros = held.totalMicros } = held;
  let price: Pick<HeldMessageRecord, "segments" | "totalMicros" | "unitPriceMicros"> | undefined;
  try {
    await checkMessage(organization, held);
    const isLater = held.scheduledAt !== undefined && Date.parse(held.scheduledAt) > at.getTime();
    const content = { ...held, scheduledAt: isLater ? held.scheduledAt : undefined };
    const prices = await readPrices(organization, at);
    const message = newMessage(placeOf(organization.id), content, { queuedAt: at, prices });
    const { segments, unitPriceMicros, totalMicros } = message;
    price = { segments, unitPriceMicros, totalMicros };
    const seenMicros = total === undefined ? heldMicros : microsOf(total);
    if (totalMicros > Math.min(seenMicros, held.totalMicros)) {
      throw new ApiError("CONFLICT", { message: `This message costs ${moneyText(totalMicros)} now.` });
    }
    const set = { status: "approved", messageId: message.id, ...decided, ...price } as const;
    const writes = [releaseLease(key, held, { set, requires: isHeld })];
    const ofNumber = await reserveRecipient(message, heldId);
    const reservations = await reserveAll([reserveDestinations([message], heldId)], ofNumber);
    const committing = commit({ messages: [message], isRateLimited: true, writes });
    reportRateLimit(await endBy(reservations, committing));
  } catch (error) {
    // The next person sees the price of now, and has to name it. A decision of this call that is still in flight is rejected.
    const release = releaseLease(key, held, { set: { ...price, heldMicros }, requires: isHeld });
    await updateItem(HeldMessageRecord, release).catch((cause: unknown) => {
      log.warn("held_message.not_released", { organizationId: organization.id, error: cause });
    });
    throw error;
  }
  return getHeldMessage(organization.id, heldId);
}

function decidedBefore(): ApiError {
  return new ApiError("CONFLICT", {
    message: "This message was approved or rejected before, or another call is deciding about it.",
  });
}
