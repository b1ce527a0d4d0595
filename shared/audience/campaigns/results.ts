import type { CampaignRecipient, RecipientOutcome, RecipientsQuery } from "../../api/contract/campaigns.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { inboundIds, InboundRecord } from "../../messages/inbound/record.ts";
import { hasExpired, idDelayMs, MessageRecord } from "../../messages/message/record.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { firstIdAt, momentOf } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { readGroupedPage, readWantedPage } from "../../platform/table/page.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { messagesOf } from "../../platform/table/shards.ts";
import { findContact, findContactOfNumber, fullName, type ContactRecord } from "../contacts/record.ts";
import { readCampaign, toApiCampaign, type CampaignRecord } from "./record.ts";
import { SkippedContacts, skippedOf } from "./skipped.ts";

/*
 * The results of a campaign by person, from its messages, from inbound messages and from the contacts that it skipped. So a
 * message needs no further write. The table's own key serves as the index, because ids sort by time: it finds the messages
 * of the time in which the campaign ran. A page reads at most 1,000 of them, up to 1 MB or 250 read units. The contacts of
 * 100 rows are up to 200 read units. A page of replies also reads up to 5,000 inbound messages, about 200 read units.
 */
const maxInbound = 5_000;

/** How long after a message an inbound message counts as a reply to it. */
const replyMs = 7 * dayMs;

/** Returns a page of the people of a campaign. Messages are newest first, skipped contacts in the order of the audience. */
export async function listRecipients(
  organizationId: string,
  campaignId: string,
  query: RecipientsQuery,
): Promise<Page<CampaignRecipient>> {
  const campaign = await readCampaign(organizationId, campaignId);
  const { outcome } = query;
  if (outcome === "skipped") return listSkipped(campaign, query);
  const isReply = outcome === "replied" || outcome === "opted_out";
  const { createdAt, startedAt = createdAt, endedAt = now().toISOString() } = campaign;
  const end = new Date(Date.parse(campaign.acceptedAllAt ?? endedAt) + idDelayMs);
  const wallet = await findWallet(organizationId);
  const replies = isReply ? await readReplies(organizationId, new Date(startedAt)) : undefined;
  const replyTo = (record: MessageRecord): string | undefined =>
    replyOf(outcome, record, replies?.get(record.to) ?? []);
  const page = await readWantedPage(
    MessageRecord,
    {
      pk: wallet === undefined ? [] : messagesOf(wallet),
      from: firstIdAt("msg", new Date(startedAt)),
      to: firstIdAt("msg", end),
      newestFirst: true,
      consistent: true,
    },
    query,
    (record) =>
      record.campaignId === campaignId &&
      !hasExpired(record) &&
      (isReply
        ? replyTo(record) !== undefined
        : outcome === undefined || recipientStatus(record) === outcome),
  );
  const rows = page.rows.map(async (record) => ({
    number: record.to,
    ...named(await findContactOfNumber(organizationId, record.to).catch(undefinedIfUnreadable)),
    status: recipientStatus(record),
    reason: record.errorCode ?? record.deliveryErrorCode,
    messageId: record.id,
    reply: replyTo(record),
  }));
  return { rows: await Promise.all(rows), meta: page.meta };
}

function recipientStatus({ status, deliveryStatus }: MessageRecord): CampaignRecipient["status"] {
  if (status === "failed" || status === "cancelled") return "failed";
  return deliveryStatus === "delivered" || deliveryStatus === "undelivered" ? deliveryStatus : "pending";
}

function named(contact: ContactRecord | undefined): Pick<CampaignRecipient, "contactId" | "name"> {
  return { contactId: contact?.id, name: contact && fullName(contact) };
}

/** Reads the first inbound messages since a moment, by their numbers and oldest first. */
async function readReplies(organizationId: string, since: Date): Promise<Map<string, InboundRecord[]>> {
  const { pk } = keys.inbound(organizationId, "");
  const list = { pk, ...inboundIds, from: firstIdAt("inb", since), skipsUnreadable: true };
  const inbound = await firstItems(InboundRecord, list, maxInbound);
  return Map.groupBy(
    inbound.filter((each) => !hasExpired(each)),
    ({ from }) => from,
  );
}

/** Returns the newest text that makes a person one who replied or opted out; undefined if there is none. */
function replyOf(
  outcome: RecipientOutcome | undefined,
  { id }: MessageRecord,
  inbound: readonly InboundRecord[],
): string | undefined {
  const replies = inbound.filter((each) => {
    const passedMs = momentOf(each.id).getTime() - momentOf(id).getTime();
    return passedMs >= 0 && passedMs <= replyMs;
  });
  if (outcome === "replied") return replies.findLast(({ keyword }) => keyword !== "stop")?.message;
  const lastWord = replies.findLast(({ keyword }) => keyword === "stop" || keyword === "start");
  return lastWord?.keyword === "stop" ? lastWord.message : undefined;
}

async function listSkipped(
  campaign: CampaignRecord,
  query: RecipientsQuery,
): Promise<Page<CampaignRecipient>> {
  const { organizationId, id } = campaign;
  const { pk, sk: from } = keys.skippedContacts(organizationId, id, "");
  const list = { pk, from, to: keys.skippedContacts(organizationId, id, "~").sk, consistent: true };
  const counts = Object.values(toApiCampaign(campaign, undefined).progress.skipped);
  const total = counts.reduce<number>((sum, count = 0) => sum + count, 0);
  const page = await readGroupedPage(SkippedContacts, list, query, total, skippedOf);
  const rows = page.rows.map(async ({ reason, contactId }) => {
    const contact = await findContact(organizationId, contactId).catch(undefinedIfUnreadable);
    return { number: contact?.phoneNumber, ...named(contact), status: "skipped" as const, reason };
  });
  return { rows: await Promise.all(rows), meta: page.meta };
}
