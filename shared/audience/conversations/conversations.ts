import type {
  Conversation,
  ConversationMessage,
  ConversationsQuery,
  ReplyRequest,
  UpdateConversationRequest,
} from "../../api/contract/conversations.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { PhoneNumber } from "../../api/contract/phone-numbers.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { AcceptedMessage } from "../../api/contract/sms.ts";
import { acceptMessage, type AcceptOptions } from "../../messages/accept/accept-one.ts";
import {
  ConversationEntry,
  conversationIdOf,
  ConversationRecord,
  isUnread,
  markUnread,
  UnreadRecord,
} from "../../messages/inbound/conversations.ts";
import { inboundIds, InboundRecord, toApiInboundMessage } from "../../messages/inbound/record.ts";
import { hasExpired, MessageRecord, toApiMessage } from "../../messages/message/record.ts";
import { findNumber } from "../../messages/numbers/record.ts";
import { isVisible, viewerOf, type Actor, type Viewer } from "../../platform/auth/actor.ts";
import { epochSeconds, now } from "../../platform/clock.ts";
import { isTestId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { pageOf, readWantedPage } from "../../platform/table/page.ts";
import { findItem, queryItems } from "../../platform/table/read.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { deleteItem, updateItem, updateOf } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { findContactOfNumber } from "../contacts/record.ts";

/** The most unread conversations that are counted. */
const maxUnread = 1_000;

/**
 * Returns a page of an organization's conversations. Their order is that of their last inbound messages. The list of inbound
 * messages is therefore read, and each conversation is shown at its last one.
 */
export async function listConversations(
  { organizationId, isTest: hasTestKey }: Viewer,
  query: ConversationsQuery,
): Promise<Page<Conversation>> {
  const isTest = hasTestKey || query.test === true;
  const page = query.unread === true ? await readUnread() : await readAll();
  const found = await Promise.all(page.rows.map(async (last) => conversationAt(organizationId, last)));
  return { rows: found.flatMap((each) => each ?? []), meta: page.meta };

  async function readAll(): Promise<Page<LastInbound>> {
    const pk = isTest ? keys.testInbound(organizationId) : keys.inbound(organizationId, "").pk;
    const seen = new Set<string>();
    const list = { pk, ...inboundIds, newestFirst: true, consistent: true };
    const { rows, meta } = await readWantedPage(InboundRecord, list, query, (inbound) => {
      const id = conversationIdOf(inbound);
      const isFirst = !seen.has(id);
      seen.add(id);
      return isFirst;
    });
    return { rows: rows.map((row) => ({ id: row.id, conversationId: conversationIdOf(row) })), meta };
  }

  async function readUnread(): Promise<Page<LastInbound>> {
    const live = keys.unreadConversation(organizationId, "");
    const pk = isTest ? keys.testConversations(organizationId) : live.pk;
    const range = { pk, from: live.sk, to: `${live.sk}~`, limit: maxUnread, consistent: true };
    const unread = await queryItems(UnreadRecord, range);
    const newestFirst = unread.toSorted((one, other) => (one.lastInboundId < other.lastInboundId ? 1 : -1));
    return pageOf(
      newestFirst.map(({ conversationId, lastInboundId }) => ({ id: lastInboundId, conversationId })),
      query,
    );
  }
}

/** An inbound message that is the last of its conversation, unless a later one has arrived since. */
interface LastInbound {
  readonly id: string;
  readonly conversationId: string;
}

/** Returns the conversation whose last inbound message has an id; undefined if a later one is its last. */
async function conversationAt(organizationId: string, last: LastInbound): Promise<Conversation | undefined> {
  const record = await findConversation(organizationId, last.conversationId);
  return record?.lastInboundId === last.id ? present(record) : undefined;
}

async function findConversation(organizationId: string, id: string): Promise<ConversationRecord | undefined> {
  const record = await findItem(ConversationRecord, keys.conversation(organizationId, id), {
    consistent: true,
  });
  // DynamoDB deletes expired items days later.
  return record === undefined || (record.expiresAt ?? Infinity) <= epochSeconds(now()) ? undefined : record;
}

async function readConversation(viewer: Viewer, id: string): Promise<ConversationRecord> {
  const record = isVisible(viewer, id) ? await findConversation(viewer.organizationId, id) : undefined;
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return record;
}

async function present(record: ConversationRecord): Promise<Conversation> {
  const { id, organizationId, number, phoneNumber, lastInboundId } = record;
  const [contact, last] = await Promise.all([
    // A test key does not read contacts.
    isTestId(id) ? undefined : findContactOfNumber(organizationId, phoneNumber),
    findItem(InboundRecord, keys.inbound(organizationId, lastInboundId)),
  ]);
  const name = [contact?.firstName, contact?.lastName].filter(Boolean).join(" ");
  return {
    id,
    number,
    phoneNumber,
    contact: contact && { id: contact.id, name: name === "" ? undefined : name },
    lastInbound: last && toApiInboundMessage(last),
    isUnread: isUnread(record),
  };
}

/** Returns a conversation, and whether it can be replied to. @throws ApiError NOT_FOUND */
export async function getConversation(viewer: Viewer, id: string): Promise<Conversation> {
  const record = await readConversation(viewer, id);
  const [shown, number] = await Promise.all([present(record), findNumber(record.number)]);
  const isOwn = isTestId(id) || number?.organizationId === viewer.organizationId;
  return { ...shown, canReply: isOwn && isPhone(record) };
}

function isPhone({ phoneNumber }: ConversationRecord): boolean {
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
  const found = await Promise.all(page.rows.map(async (entry) => readEntry(organizationId, entry.id)));
  return { rows: found.flatMap((each) => each ?? []), meta: page.meta };
}

/** Reads the message of an entry; undefined if it was deleted, or if it was never accepted. */
async function readEntry(organizationId: string, id: string): Promise<ConversationMessage | undefined> {
  if (id.startsWith("inb_")) {
    const inbound = await findItem(InboundRecord, keys.inbound(organizationId, id), { consistent: true });
    if (inbound === undefined) return undefined;
    const { message, keyword, receivedAt: at } = inbound;
    return { id, direction: "inbound", message, keyword, at };
  }
  const record = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
  if (record === undefined || hasExpired(record)) return undefined;
  const { message, queuedAt: at, status, delivery, errorCode } = toApiMessage(record);
  return { id, direction: "outbound", message, at, status, delivery: delivery?.status, errorCode };
}

/**
 * Sends a message from the number of a conversation to its phone: in a test conversation, a test message.
 * @throws ApiError NOT_FOUND; CONFLICT if the other side is no phone; the errors of `acceptMessage`
 */
export async function replyToConversation(
  organization: OrganizationRecord,
  id: string,
  request: ReplyRequest,
  { actor, ...options }: AcceptOptions & { readonly actor: Actor },
): Promise<AcceptedMessage> {
  const conversation = await readConversation(viewerOf(actor), id);
  if (!isPhone(conversation)) {
    throw new ApiError("CONFLICT", { message: "A name or a short code cannot receive messages." });
  }
  const { phoneNumber: to, number: from } = conversation;
  const test = isTestId(id) ? { test: true } : {};
  return acceptMessage(organization, { ...request, to, from, ...test }, { actor, ...options });
}

/** Marks a conversation as read or unread. @throws ApiError NOT_FOUND */
export async function updateConversation(
  viewer: Viewer,
  id: string,
  request: UpdateConversationRequest,
): Promise<Conversation> {
  const { organizationId, lastInboundId } = await readConversation(viewer, id);
  const key = keys.conversation(organizationId, id);
  const change = request.isUnread
    ? updateOf(key, { remove: ["readThrough"] }, { present: ["pk"] })
    : updateOf(key, { set: { readThrough: lastInboundId } }, { present: ["pk"] });
  const updated = await updateItem(ConversationRecord, change);
  if (!updated.applied) throw new ApiError("NOT_FOUND");
  if (request.isUnread) {
    await markUnread(updated.item);
  } else {
    // The mark of a later message stays.
    const mark = keys.unreadConversation(organizationId, id);
    await deleteItem(mark, { ifPresent: { atMost: { lastInboundId } } });
  }
  return getConversation(viewer, id);
}
