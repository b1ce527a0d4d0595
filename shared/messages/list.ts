import * as z from "zod";

import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import type { Message } from "../contract/sms.ts";
import { keys } from "../platform/keys.ts";
import { readPage } from "../platform/page.ts";
import { readItem } from "../platform/table.ts";
import { countPaidMessages } from "../wallet/wallet.ts";
import { MessageRecord, presentMessage } from "./message.ts";

/**
 * One message of an organisation, as it is now.
 * @throws ApiError NOT_FOUND, also for a message of another organisation
 */
export async function requireMessage(organizationId: string, messageId: string): Promise<MessageRecord> {
  const record = await readItem(MessageRecord, keys.message(organizationId, messageId), { consistent: true });
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return record;
}

/**
 * One message as its customer sees it.
 * @throws ApiError NOT_FOUND, also for a message of another organisation
 */
export async function getMessage(organizationId: string, messageId: string): Promise<Message> {
  return presentMessage(await requireMessage(organizationId, messageId));
}

/** A page of an organisation's messages, newest first. */
export async function listMessages(organizationId: string, query: PageQuery): Promise<Page<Message>> {
  const page = await readPage(
    MessageRecord.extend({ sk: z.string() }),
    { pk: keys.message(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    await countPaidMessages(organizationId),
  );
  return { rows: page.rows.map(presentMessage), meta: page.meta };
}
