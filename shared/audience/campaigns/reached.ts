import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { MessageRecord } from "../../messages/message/record.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { queryItems } from "../../platform/table/read.ts";
import { putOf, type Write } from "../../platform/table/write.ts";
import { maxContacts } from "../contacts/record.ts";
import type { RecipientResult } from "./recipients.ts";
import type { CampaignRecord } from "./record.ts";

/**
 * The numbers that a block of a campaign reached, as digests. A campaign processes contacts in the order of their ids. So it
 * meets a person twice whose contact was deleted and created again, or whose number moved to a later contact. Only contacts
 * that changed since the start need the digests. A list of contacts needs none, because it has each contact once.
 */
export const ReachedNumbers = z.object({
  entity: z.literal("reachedNumbers"),
  digests: z.array(z.string()),
  expiresAt: z.int(),
});

/** A campaign that is paused for longer may reach such a person again. */
const retentionMs = 90 * dayMs;

/** The largest difference between the clocks of two functions. */
const clockToleranceMs = minuteMs;

/**
 * Returns the write of the reached numbers of a block, for the transaction that records the block. It costs up to 4 write units
 * for 48 messages.
 */
export function reachedPut(campaign: CampaignRecord, accepted: readonly MessageRecord[]): Write[] {
  const { organizationId, id, position, audience } = campaign;
  if (accepted.length === 0 || audience.contactIds !== undefined) return [];
  const digests = accepted.map(({ to }) => digestOf(campaign, to));
  const expiresAt = epochSeconds(new Date(now().getTime() + retentionMs));
  const key = keys.reachedNumbers(organizationId, id, position);
  return [putOf(key, { entity: "reachedNumbers", digests, expiresAt })];
}

/** Returns the results of a block without messages to numbers that the campaign has reached by another contact. */
export async function withoutReached(
  campaign: CampaignRecord,
  results: readonly RecipientResult[],
): Promise<readonly RecipientResult[]> {
  const { organizationId, id, audience, startedAt = "" } = campaign;
  const since = new Date(Date.parse(startedAt) - clockToleranceMs).toISOString();
  if (audience.contactIds !== undefined || !results.some((each) => isChanged(each, since))) return results;
  const { pk, sk: from } = keys.reachedNumbers(organizationId, id, "");
  const list = { pk, from, to: `${from}~`, limit: maxContacts, consistent: true };
  const blocks = await queryItems(ReachedNumbers, list);
  const reached = new Set(blocks.flatMap(({ digests }) => digests));
  return results.map((result) => {
    if (!("message" in result && reached.has(digestOf(campaign, result.message.to)))) return result;
    const { position, contactId } = result;
    return { position, contactId, skipped: undefined };
  });
}

function isChanged(result: RecipientResult, since: string): boolean {
  return "message" in result && result.contactUpdatedAt >= since;
}

function digestOf({ id }: CampaignRecord, number: string): string {
  return createHash("sha256").update(`${id} ${number}`).digest("base64url").slice(0, 16);
}
