import * as z from "zod/mini";

import { keys } from "../platform/table/keys.ts";
import { deleteItem, findItem, updateItem, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/*
 * Whom a sender ID is approved for. To its recipients a name is the same in whatever case, so the key is in upper case,
 * and it is one organization's unless the operator lets several have it. Whoever sends reads this and no more of the
 * requests.
 */

const SenderNameRecord = z.object({
  entity: z.literal("senderName"),
  organizationIds: z.optional(z.set(z.string())),
});

/** The write that takes a name for an organization; it is rejected while another has it, unless it is shared. */
export function takeName(organizationId: string, senderId: string, isShared = false): Update {
  const alone = new Set([organizationId]);
  return updateOf(
    keys.senderName(senderId),
    { set: { entity: "senderName" }, add: { organizationIds: alone } },
    isShared
      ? {}
      : {
          where: "attribute_not_exists(#organizationIds) OR #organizationIds = :alone",
          values: { ":alone": alone },
        },
  );
}

/** The write that gives it up. */
export function giveUpName(organizationId: string, senderId: string): Update {
  return updateOf(keys.senderName(senderId), {
    set: { entity: "senderName" },
    take: { organizationIds: new Set([organizationId]) },
  });
}

/** Gives a name up, if the organization has it, and forgets one that no one has any more. */
export async function forgetName(organizationId: string, senderId: string): Promise<void> {
  await updateItem(SenderNameRecord, giveUpName(organizationId, senderId));
  await deleteItem(keys.senderName(senderId), { condition: "attribute_not_exists(organizationIds)" });
}

/** The organizations that a write of {@link takeName} was rejected for, as its rejection has the item. */
export function holdersOf(found: Record<string, unknown> | undefined): string[] {
  return [...(SenderNameRecord.parse(found).organizationIds ?? [])];
}

/** Whether a sender ID looks like a phone number or a short code, which no request for a name makes anyone's. */
export function isNumeric(senderId: string): boolean {
  return /^\+?\d+$/.test(senderId);
}

/** Whether an organization may send under a name now: the operator has approved it, and it is no number. */
export async function isApprovedSenderId(organizationId: string, senderId: string): Promise<boolean> {
  if (isNumeric(senderId)) return false;
  const name = await findItem(SenderNameRecord, keys.senderName(senderId), { consistent: true });
  return name?.organizationIds?.has(organizationId) === true;
}
