import type { CampaignRecipient, RecipientOutcome, RecipientsQuery } from "../../api/contract/campaigns.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { inboundIds, InboundRecord } from "../../messages/inbound/record.ts";
import { hasExpired, MessageRecord } from "../../messages/message/record.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { firstIdAt, momentOf } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { rowsOf } from "../../platform/table/lists.ts";
import { readGroupedPage, readWantedPage } from "../../platform/table/page.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { messagesOf } from "../../platform/table/shards.ts";
import { findContact, findContactOfNumber, type ContactRecord } from "../contacts/record.ts";
import { readCampaign, type CampaignRecord } from "./record.ts";
import { SkippedContacts, skippedOf, skipReasons } from "./skipped.ts";

/*
 * The results of a campaign by person. They are read from its messages, from inbound messages and from the contacts that it
 * skipped. So a message of a campaign needs no further write.
 *
 * The table's own key serves as the index, because ids sort by time: it finds the messages of the time in which the campaign
 * ran. A page reads at most 1,000 of them, up to 1 MB or 250 read units. The contact of a row is two items, so 100 rows are
 * up to 200 read units. A page of replies also reads up to 5,000 inbound messages, about 200 read units.
 */

/** The clocks of functions differ, and a message may get its id some time after its block began. */
const toleranceMs = minuteMs;

/** How long after a message an inbound message counts as a reply to it. */
const replyMs = 7 * dayMs;

/** The most inbound messages that are examined for replies, and how many one request reads. */
const maxInbound = 5_000;
const inboundAtOnce = 1_000;

/** Returns a page of the people of a campaign. Messages are newest first, skipped contacts in the order of the audience. */
export async function listRecipients(
  organizationId: string,
  campaignId: string,
  query: RecipientsQuery,
): Promise<Page<CampaignRecipient>> {
  const campaign = await readCampaign(organizationId, campaignId);
  const { outcome } = query;
  if (outcome === "skipped") return listSkipped(campaign, query);
  const { startedAt, acceptedAllAt, endedAt } = campaign;
  const wallet = startedAt === undefined ? undefined : await findWallet(organizationId);
  const end = acceptedAllAt ?? endedAt;
  const range = {
    from: new Date(Date.parse(startedAt ?? campaign.createdAt) - toleranceMs),
    to: end === undefined ? undefined : new Date(Date.parse(end) + toleranceMs),
  };
  const isReply = outcome === "replied" || outcome === "opted_out";
  const replies = isReply ? await readReplies(organizationId, range) : new Map<string, InboundRecord[]>();
  const replyTo = (record: MessageRecord): string | undefined =>
    replyOf(record, replies.get(record.to) ?? [], outcome);
  const page = await readWantedPage(
    MessageRecord,
    {
      pk: wallet === undefined ? [] : messagesOf(wallet),
      from: firstIdAt("msg", range.from),
      ...(range.to === undefined ? {} : { to: firstIdAt("msg", range.to) }),
      newestFirst: true,
      consistent: true,
    },
    query,
    (record) =>
      record.campaignId === campaignId &&
      !hasExpired(record) &&
      (isReply ? replyTo(record) !== undefined : outcome === undefined || statusOf(record) === outcome),
  );
  const rows = await Promise.all(
    page.rows.map(async (record) => ({
      ...(await personOf(record)),
      status: statusOf(record),
      reason: record.errorCode ?? record.deliveryErrorCode,
      messageId: record.id,
      reply: replyTo(record),
    })),
  );
  return { rows, meta: page.meta };
}

function statusOf({ status, deliveryStatus }: MessageRecord): CampaignRecipient["status"] {
  if (status === "failed" || status === "cancelled") return "failed";
  return deliveryStatus === "delivered" || deliveryStatus === "undelivered" ? deliveryStatus : "pending";
}

/** Returns the number of a message, and the contact that has it now. */
async function personOf({ organizationId, to }: MessageRecord): Promise<Partial<CampaignRecipient>> {
  return { number: to, ...named(await findContactOfNumber(organizationId, to).catch(undefinedIfUnreadable)) };
}

function named(contact: ContactRecord | undefined): Partial<CampaignRecipient> {
  const name = [contact?.firstName, contact?.lastName].filter((part) => part !== undefined).join(" ");
  return { contactId: contact?.id, name: name === "" ? undefined : name };
}

/** Reads the first inbound messages since the start of a campaign, by their numbers and oldest first. */
async function readReplies(
  organizationId: string,
  { from, to }: { readonly from: Date; readonly to: Date | undefined },
): Promise<Map<string, InboundRecord[]>> {
  const list = {
    pk: keys.inbound(organizationId, "").pk,
    from: firstIdAt("inb", from),
    to: to === undefined ? inboundIds.to : firstIdAt("inb", new Date(to.getTime() + replyMs)),
  };
  const replies = new Map<string, InboundRecord[]>();
  const at = epochSeconds(now());
  let examined = 0;
  for await (const { item } of rowsOf(InboundRecord, list, inboundAtOnce)) {
    examined += 1;
    if (examined > maxInbound) break;
    // DynamoDB deletes expired items days later.
    if ((item?.expiresAt ?? Infinity) <= at) continue;
    if (item !== undefined) replies.set(item.from, [...(replies.get(item.from) ?? []), item]);
  }
  return replies;
}

/** Returns the newest text that makes a person one who replied or opted out; undefined if there is none. */
function replyOf(
  { id }: MessageRecord,
  inbound: readonly InboundRecord[],
  outcome: RecipientOutcome | undefined,
): string | undefined {
  const sentAt = momentOf(id).getTime();
  const replies = inbound.filter((each) => {
    const passedMs = momentOf(each.id).getTime() - sentAt;
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
  const total = skipReasons.reduce((sum, [count]) => sum + campaign[count], 0);
  const page = await readGroupedPage(
    SkippedContacts,
    { pk, from, to: keys.skippedContacts(organizationId, id, "~").sk, consistent: true },
    query,
    total,
    skippedOf,
  );
  const rows = await Promise.all(
    page.rows.map(async ({ reason, contactId }) => {
      const contact = await findContact(organizationId, contactId).catch(undefinedIfUnreadable);
      return { number: contact?.phoneNumber, ...named(contact), status: "skipped" as const, reason };
    }),
  );
  return { rows, meta: page.meta };
}
