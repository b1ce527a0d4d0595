import { MessageRecord } from "../../shared/messages/message/record.ts";
import { newId } from "../../shared/platform/ids.ts";

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
