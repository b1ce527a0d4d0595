import * as z from "zod/mini";

import type { Campaign } from "../../api/contract/campaigns.ts";
import { keys } from "../../platform/table/keys.ts";
import { putOf, type Write } from "../../platform/table/write.ts";
import type { RecipientResult } from "./recipients.ts";
import type { CampaignRecord, Skipped } from "./record.ts";

/** The counts of skipped contacts, and their names in the API. */
export const skipReasons = [
  ["skippedOptedOut", "optedOut"],
  ["skippedUnrenderable", "unrenderable"],
  ["skippedUnknown", "unknown"],
  ["skippedDestinationNotAllowed", "destinationNotAllowed"],
  ["skippedDestinationNotPriced", "destinationNotPriced"],
  ["skippedRecipientRateExceeded", "recipientRateExceeded"],
] as const satisfies readonly (readonly [keyof Skipped, keyof Campaign["progress"]["skipped"]])[];

/**
 * The contacts that a block of a campaign skipped. It has no numbers, so nothing of a person stays in it when a contact is
 * deleted. It is among the counters, whose partition the erasure of an organization by any release deletes.
 */
export const SkippedContacts = z.object({
  entity: z.literal("skippedContacts"),
  contactIds: z.record(z.string(), z.array(z.string())),
});
export type SkippedContacts = z.infer<typeof SkippedContacts>;

/**
 * Returns the write of the skipped contacts of a block, for the transaction that records the block. A block without any has
 * none, so a campaign that skips no one costs the same as before. Otherwise it costs up to 4 write units for 48 contacts.
 */
export function skippedPut(
  { organizationId, id }: CampaignRecord,
  results: readonly RecipientResult[],
): Write[] {
  const { position = "" } = results.at(-1) ?? {};
  const contactIds: Record<string, string[]> = {};
  for (const result of results) {
    if (!("skipped" in result) || result.skipped === undefined) continue;
    (contactIds[result.skipped] ??= []).push(result.contactId);
  }
  if (Object.keys(contactIds).length === 0) return [];
  return [
    putOf(keys.skippedContacts(organizationId, id, position), { entity: "skippedContacts", contactIds }),
  ];
}

/** Returns the skipped contacts of a block, in the order of their reasons. */
export function skippedOf({ contactIds }: SkippedContacts): { reason: string; contactId: string }[] {
  return skipReasons.flatMap(([field, reason]) =>
    (contactIds[field] ?? []).map((contactId) => ({ reason, contactId })),
  );
}
