import * as z from "zod/mini";

import { epochSeconds, dayMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { fixedId, isTestId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { forEachOf, itemsIn } from "../../platform/table/lists.ts";
import { deleteItem, putItem, putOf, updateItem, updateOf } from "../../platform/table/write.ts";
import { effectsOf } from "../message/effects.ts";
import { redactedText, type MessageRecord } from "../message/record.ts";
import type { InboundRecord } from "./record.ts";

/*
 * A conversation: the messages between one number of an organization and one phone, from the first inbound message on. It
 * has an entry for each message, in their order, which only names the message. The writes can be repeated in any order.
 */

export const ConversationRecord = z.object({
  entity: z.literal("conversation"),
  id: z.string(),
  organizationId: z.string(),
  /** The number of the organization. */
  number: z.string(),
  /** The phone, or the name or short code, that writes to it. */
  phoneNumber: z.string(),
  lastInboundId: z.string(),
  /** The last inbound message that was read; absent if none was. */
  readThrough: z.optional(z.string()),
  /** That of its last inbound message. */
  expiresAt: z.optional(z.int()),
});
export type ConversationRecord = z.infer<typeof ConversationRecord>;

/** Names one message of a conversation. */
export const ConversationEntry = z.object({ entity: z.literal("conversationEntry"), id: z.string() });

/** Marks a conversation as unread, so that unread ones can be counted. */
export const UnreadRecord = z.object({
  entity: z.literal("unreadConversation"),
  conversationId: z.string(),
  lastInboundId: z.string(),
});

const Keyed = z.object({ sk: z.string(), phoneNumber: z.optional(z.string()) });

/** Returns the id of the conversation of an inbound message. It is always the same for the two numbers. */
export function conversationIdOf({
  id,
  organizationId,
  to,
  from,
}: Pick<InboundRecord, "from" | "id" | "organizationId" | "to">): string {
  return idOf(organizationId, { number: to, phoneNumber: from, isTest: isTestId(id) });
}

interface Sides {
  readonly number: string;
  readonly phoneNumber: string;
  readonly isTest: boolean;
}

function idOf(organizationId: string, { number, phoneNumber, isTest }: Sides): string {
  return fixedId("cnv", `${organizationId} ${number} ${phoneNumber}`, isTest);
}

/** Whether a conversation has an inbound message that was not read. */
export function isUnread({ lastInboundId, readThrough = "" }: ConversationRecord): boolean {
  return readThrough < lastInboundId;
}

/** Adds an inbound message to its conversation, and marks that as unread. A repetition changes nothing. */
export async function addInbound(inbound: InboundRecord): Promise<void> {
  const { id, organizationId, from, to, expiresAt } = inbound;
  const conversationId = conversationIdOf(inbound);
  const entry = { entity: "conversationEntry", id, expiresAt } as const;
  await putItem(putOf(keys.conversationEntry(organizationId, conversationId, id), entry));
  const set = {
    entity: "conversation",
    id: conversationId,
    organizationId,
    number: to,
    phoneNumber: from,
    lastInboundId: id,
    expiresAt,
  } as const;
  const update = updateOf(
    keys.conversation(organizationId, conversationId),
    { set },
    { ifPresent: { below: { lastInboundId: id } } },
  );
  const updated = await updateItem(ConversationRecord, update);
  const conversation = updated.applied ? updated.item : ConversationRecord.parse(updated.found);
  // A worker may have ended before this. Later messages set marks of their own.
  if (conversation.lastInboundId === id && isUnread(conversation)) await markUnread(conversation);
}

/** Marks a conversation as unread. */
export async function markUnread(conversation: ConversationRecord): Promise<void> {
  const { organizationId, id: conversationId, lastInboundId, expiresAt } = conversation;
  const mark = { entity: "unreadConversation", conversationId, lastInboundId, expiresAt } as const;
  await putItem(putOf(keys.unreadConversation(organizationId, conversationId), mark));
}

/** Deletes a conversation with all its entries, but not the messages. The item that leads to it is deleted last. */
export async function deleteConversation(organizationId: string, conversationId: string): Promise<void> {
  const { pk, sk: from } = keys.conversationEntry(organizationId, conversationId, "");
  const entries = itemsIn(Keyed, { pk, from, to: `${from}~`, consistent: true });
  for await (const entry of entries) await deleteItem({ pk, sk: entry.sk });
  await deleteItem(keys.unreadConversation(organizationId, conversationId));
  await deleteItem(keys.conversation(organizationId, conversationId));
}

/** Deletes the conversations with a phone. */
export async function deleteConversationsWith(organizationId: string, phoneNumber: string): Promise<void> {
  const partitions = [keys.conversation(organizationId, "").pk, keys.testConversations(organizationId)];
  await forEachOf(Keyed, partitions, async (item) => {
    if (item.phoneNumber === phoneNumber) await deleteConversation(organizationId, item.sk);
  });
}

/** Adds a message that comes from a number to its conversation. A repetition changes nothing. */
export async function addSent(message: MessageRecord): Promise<void> {
  const { id, organizationId, from, to } = message;
  if (from === undefined || to === redactedText) return;
  const conversationId = idOf(organizationId, { number: from, phoneNumber: to, isTest: isTestId(id) });
  const key = keys.conversationEntry(organizationId, conversationId, id);
  await putItem(putOf(key, { entity: "conversationEntry", id, expiresAt: expiryOf(message) }));
}

/** Returns when an entry expires: about when its message does. */
function expiryOf(message: MessageRecord): number | undefined {
  const { queuedAt, scheduledAt = queuedAt, expiresAt } = message;
  if (effectsOf(message).keepsExpiry) return expiresAt;
  const days = config.messageRetentionDays();
  return days === undefined ? undefined : epochSeconds(new Date(Date.parse(scheduledAt) + days * dayMs));
}
