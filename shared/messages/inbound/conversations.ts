import * as z from "zod/mini";

import { fixedId, isTestId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { forEachOf } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { type Step, stepOf, transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { deleteItem, deleteOf, insertOf, putItem, putOf, type Write } from "../../platform/table/write.ts";
import { effectsOf } from "../message/effects.ts";
import { redactedText, retentionEnd, type MessageRecord } from "../message/record.ts";
import type { InboundRecord } from "./record.ts";

/*
 * A conversation: the messages between one number of an organization and one phone, from the first inbound message on. It
 * has an entry for each message, which only names the message. A place keeps the conversations in the order of their last
 * inbound messages. The conversation and its place change together.
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
  isUnread: z.boolean(),
  /** Grows with each change. */
  version: z.int(),
  /** That of its last inbound message. */
  expiresAt: z.optional(z.int()),
});
export type ConversationRecord = z.infer<typeof ConversationRecord>;

/** The place of a conversation in the order. */
export const ConversationPlace = z.object({
  entity: z.literal("conversationPlace"),
  conversationId: z.string(),
  isUnread: z.boolean(),
  expiresAt: z.optional(z.int()),
});

/** Names one message of a conversation. */
export const ConversationEntry = z.object({ entity: z.literal("conversationEntry"), id: z.string() });

type Sides = Pick<InboundRecord, "from" | "id" | "organizationId" | "to">;

/** Returns the id of the conversation of an inbound message. It is always the same for the two numbers. */
function conversationIdOf({ id, organizationId, to, from }: Sides): string {
  return fixedId("cnv", `${organizationId} ${to} ${from}`, isTestId(id));
}

export async function findConversation(
  organizationId: string,
  conversationId: string,
): Promise<ConversationRecord | undefined> {
  const key = keys.conversation(organizationId, conversationId);
  return findItem(ConversationRecord, key, { consistent: true });
}

/** Returns the writes that replace a conversation and its place. They are rejected after another change. */
export function changeOf(seen: ConversationRecord | undefined, next: ConversationRecord): Write[] {
  const { organizationId, id, lastInboundId, isUnread, expiresAt } = next;
  const placeOf = (inboundId: string) => keys.conversationPlace(organizationId, id, inboundId);
  const place = { entity: "conversationPlace", conversationId: id, isUnread, expiresAt } as const;
  return [
    putOf(
      keys.conversation(organizationId, id),
      next,
      seen === undefined ? { absent: ["pk"] } : { is: { version: seen.version } },
    ),
    putOf(placeOf(lastInboundId), place),
    ...(seen === undefined || seen.lastInboundId === lastInboundId
      ? []
      : [deleteOf(placeOf(seen.lastInboundId))]),
  ];
}

/** Adds an inbound message to its conversation, which is unread then. A repetition changes nothing. */
export async function addInbound(inbound: InboundRecord): Promise<void> {
  const { id, organizationId, from, to, expiresAt } = inbound;
  const conversationId = conversationIdOf(inbound);
  const entryKey = keys.conversationEntry(organizationId, conversationId, id);
  const entry = await putItem(insertOf(entryKey, { entity: "conversationEntry", id, expiresAt }));
  await untilUndisturbed(async (): Promise<Step> => {
    const seen = await findConversation(organizationId, conversationId);
    // A late message makes the conversation unread too.
    const isLast = seen === undefined || seen.lastInboundId < id;
    if (!isLast && !entry.applied) return "applied";
    const next: ConversationRecord = {
      entity: "conversation",
      id: conversationId,
      organizationId,
      number: to,
      phoneNumber: from,
      lastInboundId: isLast ? id : seen.lastInboundId,
      isUnread: true,
      version: (seen?.version ?? 0) + 1,
      expiresAt: isLast ? expiresAt : seen.expiresAt,
    };
    const { outcome } = await transact({ changes: changeOf(seen, next) });
    return stepOf(outcome === "committed");
  });
}

/** Removes an erased inbound message from its conversation, which ends with it if it has no later one. */
export async function removeInbound(inbound: InboundRecord): Promise<void> {
  const { id, organizationId } = inbound;
  const conversationId = conversationIdOf(inbound);
  await deleteItem(keys.conversationEntry(organizationId, conversationId, id));
  const found = await findConversation(organizationId, conversationId);
  if (found?.lastInboundId === id) await deleteConversation(found);
}

/** Deletes a conversation with its place, unless it has a later inbound message. It may be marked as read meanwhile. */
async function deleteConversation({ organizationId, id, lastInboundId }: ConversationRecord): Promise<void> {
  await untilUndisturbed(async (): Promise<Step> => {
    const found = await findConversation(organizationId, id);
    if (found?.lastInboundId !== lastInboundId) return "applied";
    const changes = [
      deleteOf(keys.conversation(organizationId, id), { is: { version: found.version } }),
      deleteOf(keys.conversationPlace(organizationId, id, lastInboundId)),
    ];
    return stepOf((await transact({ changes })).outcome === "committed");
  });
}

/** Deletes the conversations with a phone, and the entries of its inbound messages. */
export async function deleteConversationsWith(organizationId: string, phoneNumber: string): Promise<void> {
  const partitions = [keys.conversation(organizationId, "").pk, keys.testConversations(organizationId)];
  const Stored = z.object({ pk: z.string(), sk: z.string(), phoneNumber: z.optional(z.string()) });
  const ids: string[] = [];
  await forEachOf(Stored, partitions, async (item) => {
    if (item.phoneNumber === phoneNumber) ids.push(item.sk);
  });
  for (const id of ids) {
    const first = keys.conversationEntry(organizationId, id, "");
    const deleteEntry = async ({ pk, sk }: z.infer<typeof Stored>): Promise<void> => {
      await deleteItem({ pk, sk });
    };
    await forEachOf(Stored, first.pk, deleteEntry, { from: first.sk, to: `${first.sk}~` });
    // The record that leads to the others is deleted last.
    const record = await findConversation(organizationId, id);
    if (record !== undefined) await deleteConversation(record);
  }
}

/** A message that may come from a number. */
type Sent = Pick<MessageRecord, "from" | "id" | "organizationId" | "to">;

/** Adds a message that comes from a number to its conversation. A repetition changes nothing. */
export async function addSent(message: MessageRecord): Promise<void> {
  const key = entryOf(message);
  if (key === undefined || message.to === redactedText) return;
  const { id } = message;
  await putItem(putOf(key, { entity: "conversationEntry", id, expiresAt: expiryOf(message) }));
}

/** Removes a message of an erased number from its conversation. */
export async function removeSent(message: Sent): Promise<void> {
  const key = entryOf(message);
  if (key !== undefined) await deleteItem(key);
}

function entryOf({ id, organizationId, from, to }: Sent) {
  if (from === undefined) return undefined;
  const conversationId = conversationIdOf({ id, organizationId, to: from, from: to });
  return keys.conversationEntry(organizationId, conversationId, id);
}

/** Returns when an entry expires: about when its message does. */
function expiryOf(message: MessageRecord): number | undefined {
  const { queuedAt, scheduledAt = queuedAt, expiresAt } = message;
  return effectsOf(message).keepsExpiry ? expiresAt : retentionEnd(new Date(scheduledAt));
}
