import { SendSmsRequest } from "../../api/contract/sms.ts";
import { lengthRule } from "../../carriers/whole-messages.ts";
import type { DestinationLimitReached } from "../../messages/accept/destination-limits.ts";
import { newMessage, type Terms } from "../../messages/accept/new-message.ts";
import { placeOf } from "../../messages/accept/place.ts";
import { isDestinationAllowed, ruleAgainstSender } from "../../messages/accept/policies.ts";
import { countCampaignMessage } from "../../messages/accept/recipient-limits.ts";
import type { MessageRecord } from "../../messages/message/record.ts";
import { blockedPrefixes } from "../../money/prices/blocked-destinations.ts";
import { now } from "../../platform/clock.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { findContact, readContacts, type ContactRecord } from "../contacts/record.ts";
import { contactValues, renderTemplate } from "../templates/render.ts";
import { hasAnyTag } from "./audience.ts";
import type { Block, CampaignRecord, Skipped } from "./record.ts";
import { skippedIn } from "./skipped.ts";

/** The result for one contact of the audience, and the campaign's position after it. */
export type RecipientResult = { readonly position: string; readonly contactId: string } & (
  | { readonly message: MessageRecord; readonly contactUpdatedAt: string }
  /** No reason for a contact outside the audience, which the progress does not count. */
  | { readonly skipped: keyof Skipped | undefined }
);

/**
 * Returns the results for the next contacts of a campaign, after its position.
 * @param limit the number of contacts to read
 * @returns fewer results than that when the audience ends
 */
export async function nextRecipients(
  campaign: CampaignRecord,
  limit: number,
  terms: Terms,
): Promise<RecipientResult[]> {
  const { organizationId, audience, position } = campaign;
  const { contactIds } = audience;
  const [blocked, isTooLong] = [await blockedPrefixes(organizationId), await lengthRule()];
  const rules = { ...terms, blocked, isTooLong };
  if (contactIds === undefined) {
    const contacts = await readContacts(organizationId, {
      after: position === "" ? undefined : position,
      limit,
    });
    return contacts.map(({ key, item }) =>
      resultOf(campaign, item, { position: key.sk, contactId: key.sk }, rules),
    );
  }
  const start = Number(position);
  const ids = [...new Set(contactIds)].slice(start, start + limit);
  const contacts = await Promise.all(
    ids.map(async (id) => findContact(organizationId, id).catch(undefinedIfUnreadable)),
  );
  return ids.map((contactId, index) =>
    resultOf(campaign, contacts[index], { position: String(start + index + 1), contactId }, rules),
  );
}

/** Counts the marketing messages of each recipient, and skips those over their limit. */
export async function withinLimits(
  { startedAt, resumedAt = startedAt }: Pick<CampaignRecord, "resumedAt" | "startedAt">,
  results: readonly RecipientResult[],
): Promise<RecipientResult[]> {
  // Otherwise campaigns that were paused on different days could be resumed together.
  const startOfCampaign = resumedAt === undefined ? now() : new Date(resumedAt);
  return Promise.all(
    results.map(async (result) => {
      if (!("message" in result) || (await countCampaignMessage(result.message, startOfCampaign)))
        return result;
      const { position, contactId } = result;
      return { position, contactId, skipped: "skippedRecipientRateExceeded" } as const;
    }),
  );
}

/**
 * Returns the first results of a block that the daily limit of a destination covers now. Contacts whose message costs more than
 * the limit of a whole day are skipped.
 */
export function coveredByLimit(
  results: readonly RecipientResult[],
  { limit: { prefix, dailyMicros, leftMicros } }: DestinationLimitReached,
): RecipientResult[] {
  const covered: RecipientResult[] = [];
  let micros = leftMicros;
  for (const result of results) {
    const priceMicros =
      "message" in result && result.message.to.startsWith(prefix) ? result.message.totalMicros : 0;
    const { position, contactId } = result;
    const isTooExpensive = priceMicros > dailyMicros;
    if (!isTooExpensive) micros -= priceMicros;
    if (micros < 0) break;
    covered.push(isTooExpensive ? { position, contactId, skipped: "skippedDestinationNotAllowed" } : result);
  }
  return covered;
}

function resultOf(
  campaign: CampaignRecord,
  contact: ContactRecord | undefined,
  place: Pick<RecipientResult, "contactId" | "position">,
  {
    blocked,
    isTooLong,
    ...terms
  }: Terms & { readonly blocked: readonly string[]; readonly isTooLong: (message: MessageRecord) => boolean },
): RecipientResult {
  if (contact === undefined) return { ...place, skipped: "skippedUnknown" };
  if (!hasAnyTag(contact, campaign.audience.tags)) return { ...place, skipped: undefined };
  if (contact.optedOut) return { ...place, skipped: "skippedOptedOut" };
  if (!isDestinationAllowed(contact.phoneNumber, blocked)) {
    return { ...place, skipped: "skippedDestinationNotAllowed" };
  }
  if (ruleAgainstSender({ ...campaign, to: contact.phoneNumber }) !== undefined) {
    return { ...place, skipped: "skippedSenderNotAllowed" };
  }
  if (terms.prices.unitPriceMicros(contact.phoneNumber) === undefined) {
    return { ...place, skipped: "skippedDestinationNotPriced" };
  }
  const rendered = renderTemplate(campaign.message, contactValues(contact));
  if ("missing" in rendered || !SendSmsRequest.shape.message.safeParse(rendered.text).success) {
    return { ...place, skipped: "skippedUnrenderable" };
  }
  const {
    organizationId,
    senderId,
    from,
    language,
    messageType,
    expiresInSeconds,
    id: campaignId,
  } = campaign;
  const content = { to: contact.phoneNumber, message: rendered.text, senderId, from, language, messageType };
  const message = newMessage(placeOf(organizationId), { ...content, expiresInSeconds, campaignId }, terms);
  if (isTooLong(message)) return { ...place, skipped: "skippedUnrenderable" };
  return { ...place, message, contactUpdatedAt: contact.updatedAt };
}

/** Returns the progress of a block: the messages that were accepted, and the other results. */
export function blockOf(results: readonly RecipientResult[], messages: readonly MessageRecord[]): Block {
  const skipped = Object.entries(skippedIn(results)).map(([reason, ids]) => [reason, ids.length] as const);
  return {
    position: results.at(-1)?.position ?? "",
    messageIds: messages.map(({ id }) => id),
    chargedMicros: messages.reduce((sum, { totalMicros }) => sum + totalMicros, 0),
    skipped: Object.fromEntries(skipped),
  };
}
