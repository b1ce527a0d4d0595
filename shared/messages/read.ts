import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import type { Message } from "../contract/sms.ts";
import { keys, messagesPartition, partNames } from "../platform/table/keys.ts";
import { readMergedPage } from "../platform/table/page.ts";
import { findItem } from "../platform/table/table.ts";
import { sizeOfMessages } from "../wallet/record.ts";
import { isForgotten, MessageRecord, presentMessage } from "./record.ts";

/**
 * One message of an organisation, as it is now.
 * @throws ApiError NOT_FOUND, also for a message of another organisation
 */
export async function readMessage(organizationId: string, messageId: string): Promise<MessageRecord> {
  const record = await findItem(MessageRecord, keys.message(organizationId, messageId), { consistent: true });
  if (record === undefined || isForgotten(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/**
 * One message as its customer sees it.
 * @throws ApiError NOT_FOUND, also for a message of another organisation
 */
export async function getMessage(organizationId: string, messageId: string): Promise<Message> {
  return presentMessage(await readMessage(organizationId, messageId));
}

/** A page of an organisation's messages, newest first. */
export async function listMessages(organizationId: string, query: PageQuery): Promise<Page<Message>> {
  const { messageCount, messageParts } = await sizeOfMessages(organizationId);
  const page = await readMergedPage(
    MessageRecord,
    { pks: partNames(messageParts).map((part) => messagesPartition(organizationId, part)), consistent: true },
    query,
    messageCount,
  );
  return { rows: page.rows.filter((record) => !isForgotten(record)).map(presentMessage), meta: page.meta };
}
