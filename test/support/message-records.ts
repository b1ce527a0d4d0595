import { noteDay } from "../../shared/messages/counts/counts.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { messageKey, shardOf } from "../../shared/platform/table/shards.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";

/** A message that a carrier has accepted now, with other fields as given. */
export function sentMessage(organizationId: string, fields: Partial<MessageRecord> = {}): MessageRecord {
  return MessageRecord.parse({
    entity: "message",
    id: newId("msg"),
    organizationId,
    status: "sent",
    to: "15005550000",
    message: "hello",
    senderId: "ACME",
    language: "English",
    encoding: "GSM-7",
    segments: 1,
    unitPriceMicros: 7_900,
    totalMicros: 7_900,
    queuedAt: new Date().toISOString(),
    attempts: 1,
    unresolvedAttempts: 1,
    ...fields,
  });
}

/**
 * Records messages of the present moment that have ended, and the counter of their day.
 * @param shard the end of their ids
 */
export async function putSent(
  organizationId: string,
  count: number,
  fields: Partial<MessageRecord> = {},
  shard = "",
): Promise<void> {
  const messages = Array.from({ length: count }, () =>
    sentMessage(organizationId, { ...fields, id: `${newId("msg")}${shard}` }),
  );
  await Promise.all(messages.map(async (each) => putItem(putOf(messageKey(each), each))));
  const [first] = messages;
  if (first !== undefined) await noteDay(shardOf(first));
}
