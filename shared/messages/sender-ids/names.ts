import * as z from "zod/mini";

import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { deleteItem, type Update, updateItem, updateOf } from "../../platform/table/write.ts";

/*
 * The organizations that each sender ID is approved for. Recipients do not distinguish names by case, so the key is in
 * upper case. A name belongs to one organization, unless the operator lets several share it. Sending reads only this
 * record, and not the requests.
 */

export const SenderNameRecord = z.object({
  entity: z.literal("senderName"),
  organizationIds: z.optional(z.set(z.string())),
});

/**
 * Returns the write that assigns a name to an organization. It is rejected while another organization has the name,
 * unless the name is shared.
 */
export function takeName(organizationId: string, senderId: string, isShared = false): Update<"senderName"> {
  const alone = new Set([organizationId]);
  return updateOf(
    keys.senderName(senderId),
    { set: { entity: "senderName" }, add: { organizationIds: alone } },
    isShared ? {} : { ifPresent: { is: { organizationIds: alone } } },
  );
}

/** Returns the write that releases a name. */
export function giveUpName(organizationId: string, senderId: string): Update<"senderName"> {
  return updateOf(keys.senderName(senderId), {
    set: { entity: "senderName" },
    take: { organizationIds: new Set([organizationId]) },
  });
}

/** Releases a name, if the organization has it, and deletes one that no organization has. */
export async function deleteName(organizationId: string, senderId: string): Promise<void> {
  await updateItem(SenderNameRecord, giveUpName(organizationId, senderId));
  await deleteItem(keys.senderName(senderId), { absent: ["organizationIds"] });
}

/** Returns the organizations that have a name, from the item of a rejected {@link takeName}. */
export function holdersOf(found: Record<string, unknown> | undefined): string[] {
  return [...(SenderNameRecord.parse(found).organizationIds ?? [])];
}

/** Whether a sender ID looks like a phone number or a short code. Requests for a name cannot assign these. */
export function isNumeric(senderId: string): boolean {
  return /^\+?\d+$/.test(senderId);
}

/** Returns the organizations that a name is approved for, as it is now. */
export async function findHolders(senderId: string): Promise<ReadonlySet<string>> {
  const name = await findItem(SenderNameRecord, keys.senderName(senderId), { consistent: true });
  return name?.organizationIds ?? new Set();
}

/** Whether an organization may use a name now: the operator has approved it, and it is not a number. */
export async function isApprovedSenderId(organizationId: string, senderId: string): Promise<boolean> {
  return !isNumeric(senderId) && (await findHolders(senderId)).has(organizationId);
}
