import * as z from "zod/mini";

import { keys } from "../../platform/table/keys.ts";
import { putOf, type Write } from "../../platform/table/write.ts";
import type { RecipientResult } from "./recipients.ts";
import type { CampaignRecord, Skipped } from "./record.ts";

/**
 * The contacts that a block of a campaign skipped. It has no numbers, so nothing of a person stays in it when a contact is
 * deleted. It is among the counters, whose partition the erasure of an organization by any release deletes.
 */
export const SkippedContacts = z.object({
  entity: z.literal("skippedContacts"),
  /** By the counts of the campaign: `skippedOptedOut` and others. */
  contactIds: z.record(z.string(), z.array(z.string())),
});
export type SkippedContacts = z.infer<typeof SkippedContacts>;

/** Returns the ids of the skipped contacts by their reason. */
export function skippedIn(results: readonly RecipientResult[]): { [Reason in keyof Skipped]?: string[] } {
  const skipped: { [Reason in keyof Skipped]?: string[] } = {};
  for (const result of results) {
    if (!("skipped" in result) || result.skipped === undefined) continue;
    (skipped[result.skipped] ??= []).push(result.contactId);
  }
  return skipped;
}

/**
 * Returns the write of the skipped contacts of a block, for the transaction that records the block. A block without any has
 * none, so a campaign that skips no one costs the same as before. Otherwise it costs up to 4 write units for 48 contacts.
 */
export function skippedPut(
  { organizationId, id }: CampaignRecord,
  results: readonly RecipientResult[],
): Write[] {
  const contactIds = skippedIn(results);
  if (Object.keys(contactIds).length === 0) return [];
  // A position is the id of a contact, or a number below a thousand.
  const position = (results.at(-1)?.position ?? "").padStart(4, "0");
  const key = keys.skippedContacts(organizationId, id, position);
  return [putOf(key, { entity: "skippedContacts", contactIds })];
}

/** Returns the skipped contacts of a block in a fixed order, with the names of the reasons in the API. */
export function skippedOf({ contactIds }: SkippedContacts): { reason: string; contactId: string }[] {
  return Object.keys(contactIds)
    .toSorted()
    .flatMap((count) => {
      const name = count.replace("skipped", "");
      const reason = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
      return (contactIds[count] ?? []).map((contactId) => ({ reason, contactId }));
    });
}
