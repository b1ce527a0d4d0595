import * as z from "zod/mini";

import { ApiError } from "../contract/errors.ts";
import type { Page } from "../contract/primitives.ts";
import type { Message, MessagesQuery } from "../contract/sms.ts";
import { momentOf } from "../platform/ids.ts";
import { keys, messagesPartition, partNames } from "../platform/table/keys.ts";
import { readMergedPage, readWantedMergedPage } from "../platform/table/page.ts";
import { findItem, queryItems } from "../platform/table/table.ts";
import { sizeOfMessages, type WalletRecord } from "../wallet/record.ts";
import { hasExpired, MessageRecord, toApiMessage } from "./record.ts";

/**
 * Reads one message of an organization in its present state.
 * @throws ApiError NOT_FOUND, also for a message of another organization
 */
export async function readMessage(organizationId: string, messageId: string): Promise<MessageRecord> {
  const record = await findItem(MessageRecord, keys.message(organizationId, messageId), { consistent: true });
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/**
 * Returns one message as its customer sees it.
 * @throws ApiError NOT_FOUND, also for a message of another organization
 */
export async function getMessage(organizationId: string, messageId: string): Promise<Message> {
  return toApiMessage(await readMessage(organizationId, messageId));
}

const Keyed = z.object({ sk: z.string() });

/** Returns when the newest remaining message of an organization was accepted; undefined if none remains. */
export async function newestMessageAt({
  organizationId,
  messageParts,
}: Pick<WalletRecord, "messageParts" | "organizationId">): Promise<Date | undefined> {
  const newest = await Promise.all(
    partNames(messageParts).map(async (part) => {
      const pk = messagesPartition(organizationId, part);
      return queryItems(Keyed, { pk, newestFirst: true, limit: 1 });
    }),
  );
  const last = newest
    .flat()
    .map(({ sk }) => sk)
    .toSorted()
    .at(-1);
  return last === undefined ? undefined : momentOf(last.slice(0, messageIdLength));
}

/** The length of a message's id before its shard. */
const messageIdLength = "msg_".length + 26;

/** Returns a page of an organization's messages, newest first, filtered by status and number. */
export async function listMessages(organizationId: string, query: MessagesQuery): Promise<Page<Message>> {
  const { status, to } = query;
  const { messageCount, messageParts } = await sizeOfMessages(organizationId);
  const range = {
    pks: partNames(messageParts).map((part) => messagesPartition(organizationId, part)),
    consistent: true,
  };
  // No index serves a filter: it would cost a write for each change of each message, and filters are rare.
  const page =
    status === undefined && to === undefined
      ? await readMergedPage(MessageRecord, range, query, messageCount)
      : await readWantedMergedPage(
          MessageRecord,
          range,
          query,
          (record) =>
            !hasExpired(record) &&
            (status === undefined || record.status === status) &&
            (to === undefined || record.to === to),
        );
  return { rows: page.rows.filter((record) => !hasExpired(record)).map(toApiMessage), meta: page.meta };
}
