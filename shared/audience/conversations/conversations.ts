import type {
  Conversation,
  ConversationMessage,
  ConversationsQuery,
  UpdateConversationRequest,
} from "../../api/contract/conversations.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { PhoneNumber } from "../../api/contract/phone-numbers.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import {
  changeOf,
  ConversationEntry,
  ConversationPlace,
  findConversation,
  type ConversationRecord,
} from "../../messages/inbound/conversations.ts";
import { InboundRecord, toApiInboundMessage } from "../../messages/inbound/record.ts";
import { hasExpired, MessageRecord, toApiMessage } from "../../messages/message/record.ts";
import { findNumber } from "../../messages/numbers/record.ts";
import { isVisible, type Viewer } from "../../platform/auth/actor.ts";
import { isTestId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { type Step, stepOf, transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { findContactOfNumber, fullName } from "../contacts/record.ts";

/** Returns a page of an organization's conversations, in the order of their last inbound messages, newest first. */
export async function listConversations(
  { organizationId, isTest: hasTestKey }: Viewer,
  query: ConversationsQuery,
): Promise<Page<Conversation>> {
  const live = keys.conversationPlace(organizationId, "", "");
  const pk = hasTestKey || query.test === true ? keys.testConversations(organizationId) : live.pk;
  const list = { pk, from: live.sk, to: `${live.sk}~`, newestFirst: true, consistent: true };
  const page = await readWantedPage(
    ConversationPlace,
    list,
    query,
    (place) => !hasExpired(place) && (query.unread !== true || place.isUnread),
  );
  const shown = page.rows.map(async ({ conversationId }) => {
    const found = await findConversation(organizationId, conversationId).catch(undefinedIfUnreadable);
    return found === undefined ? [] : [await present(found)];
  });
  return { rows: (await Promise.all(shown)).flat(), meta: page.meta };
}

export async function readConversation(viewer: Viewer, id: string): Promise<ConversationRecord> {
  const record = isVisible(viewer, id) ? await findConversation(viewer.organizationId, id) : undefined;
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

async function present(record: ConversationRecord): Promise<Conversation> {
  const { id, organizationId, number, phoneNumber, lastInboundId } = record;
  const [contact, last] = await Promise.all([
    // A test key does not read contacts.
    isTestId(id) ? undefined : findContactOfNumber(organizationId, phoneNumber).catch(undefinedIfUnreadable),
    findItem(InboundRecord, keys.inbound(organizationId, lastInboundId)).catch(undefinedIfUnreadable),
  ]);
  return {
    id,
    number,
    phoneNumber,
    contact: contact && { id: contact.id, name: fullName(contact) },
    lastInbound: last === undefined || hasExpired(last) ? undefined : toApiInboundMessage(last),
    isUnread: record.isUnread,
  };
}

/** Returns a conversation, and whether it can be replied to. @throws ApiError NOT_FOUND */
export async function getConversation(viewer: Viewer, id: string): Promise<Conversation> {
  const record = await readConversation(viewer, id);
  const [shown, number] = await Promise.all([present(record), findNumber(record.number)]);
  const isOwn = isTestId(id) || number?.organizationId === viewer.organizationId;
  return { ...shown, canReply: isOwn && isPhone(record) };
}

export function isPhone({ phoneNumber }: ConversationRecord): boolean {
  return PhoneNumber.safeParse(phoneNumber).success;
}

/** Returns a page of the messages of a conversation in both directions, newest first. @throws ApiError NOT_FOUND */
export async function listConversationMessages(
  viewer: Viewer,
  id: string,
  query: PageQuery,
): Promise<Page<ConversationMessage>> {
  const { organizationId, id: conversationId } = await readConversation(viewer, id);
  const { pk, sk: from } = keys.conversationEntry(organizationId, conversationId, "");
  const list = { pk, from, to: `${from}~`, newestFirst: true, consistent: true };
  const page = await readWantedPage(ConversationEntry, list, query, () => true);
  const found = await Promise.all(
    page.rows.map(async (entry) => readEntry(viewer, entry.id).catch(undefinedIfUnreadable)),
  );
  return { rows: found.flatMap((each) => each ?? []), meta: page.meta };
}

/** Reads the message of an entry; undefined if it was deleted, or if it was never accepted. */
async function readEntry(viewer: Viewer, id: string): Promise<ConversationMessage | undefined> {
  const { organizationId } = viewer;
  if (id.startsWith("inb_")) {
    const inbound = await findItem(InboundRecord, keys.inbound(organizationId, id), { consistent: true });
    if (inbound === undefined || hasExpired(inbound)) return undefined;
    const { message, keyword, receivedAt: at } = inbound;
    return { id, direction: "inbound", message, keyword, at };
  }
  const record = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
  if (record === undefined || hasExpired(record)) return undefined;
  const { message, queuedAt: at, status, delivery, errorCode } = toApiMessage(record, viewer);
  return { id, direction: "outbound", message, at, status, delivery: delivery?.status, errorCode };
}

/** Marks a conversation as read or unread. @throws ApiError NOT_FOUND; UNAVAILABLE when other changes interfere */
export async function updateConversation(
  viewer: Viewer,
  id: string,
  { isUnread }: UpdateConversationRequest,
): Promise<Conversation> {
  const { lastInboundId } = await readConversation(viewer, id);
  await untilUndisturbed(async (): Promise<Step> => {
    const seen = await readConversation(viewer, id);
    // A message that arrived in the meantime was not read.
    if (seen.isUnread === isUnread || (!isUnread && seen.lastInboundId !== lastInboundId)) return "applied";
    const next = { ...seen, isUnread, version: seen.version + 1 };
    const { outcome } = await transact({ changes: changeOf(seen, next) });
    return stepOf(outcome === "committed");
  });
  return getConversation(viewer, id);
}
