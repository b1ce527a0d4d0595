import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import type { Page } from "../../api/contract/primitives.ts";
import type { Message, MessagesQuery } from "../../api/contract/sms.ts";
import { findWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { isVisible, type Viewer } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { firstIdAt, momentOf } from "../../platform/ids.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { readPage, readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey, messagesOf, testMessagesOf } from "../../platform/table/shards.ts";
import { TextSearch } from "../../platform/text-search.ts";
import { hasExpired, MessageRecord, toApiMessage } from "./record.ts";
import { maxScheduleAheadMs } from "./schedule.ts";

/**
 * Reads one message of an organization in its present state.
 * @throws ApiError NOT_FOUND, also for a message of another organization, and with a test key for a live message
 */
export async function readMessage(viewer: Viewer, messageId: string): Promise<MessageRecord> {
  if (!isVisible(viewer, messageId)) throw new ApiError("NOT_FOUND");
  const key = messageKey({ organizationId: viewer.organizationId, id: messageId });
  const record = await findItem(MessageRecord, key, { consistent: true });
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/** Returns one message as its customer sees it. @throws ApiError NOT_FOUND */
export async function getMessage(viewer: Viewer, messageId: string): Promise<Message> {
  return toApiMessage(await readMessage(viewer, messageId));
}

const Keyed = z.object({ sk: z.string() });

/** Returns when the newest remaining message of an organization was accepted; undefined if none remains. */
export async function newestMessageAt(wallet: WalletRecord): Promise<Date | undefined> {
  const [newest] = await firstItems(Keyed, { pk: messagesOf(wallet), newestFirst: true }, 1);
  return newest === undefined ? undefined : momentOf(newest.sk);
}

/**
 * Returns a page of an organization's messages, newest first, filtered by the query. Test messages, which a person requests by
 * a parameter, have no counter.
 */
export async function listMessages(
  { organizationId, isTest: hasTestKey }: Viewer,
  query: MessagesQuery,
): Promise<Page<Message>> {
  const isTest = hasTestKey || query.test === true;
  const { scheduled = false, after, before } = query;
  const at = now();
  const oldest = new Date(at.getTime() - maxScheduleAheadMs).toISOString();
  const wallet = isTest ? undefined : await findWallet(organizationId);
  const list = {
    pk: isTest ? testMessagesOf(organizationId) : wallet === undefined ? [] : messagesOf(wallet),
    newestFirst: true,
    consistent: true,
    // Ids sort by the time of acceptance, so that a time is a range of the table's own key.
    ...(after === undefined ? {} : { from: firstIdAt("msg", new Date(after)) }),
    ...(before === undefined ? {} : { to: firstIdAt("msg", new Date(before)) }),
  };
  // No index serves the other filters: it would cost a write for each change of each message, and filters are rare.
  const isWanted = matcherOf(query);
  const page =
    !isTest && !scheduled && isWanted === undefined && after === undefined && before === undefined
      ? await readPage(MessageRecord, list, query, wallet?.messageCount ?? 0)
      : await readWantedPage(
          MessageRecord,
          list,
          query,
          (record) =>
            !hasExpired(record) && (!scheduled || isWaiting(record, at)) && isWanted?.(record) !== false,
          ({ queuedAt }) => scheduled && queuedAt < oldest,
        );
  return { rows: page.rows.filter((record) => !hasExpired(record)).map(toApiMessage), meta: page.meta };
}

/** Returns whether a message has the wanted fields; undefined if a query wants none. */
function matcherOf(query: MessagesQuery): ((record: MessageRecord) => boolean) | undefined {
  const { search, ...others } = query;
  const wanted = (["status", "to", "apiKeyId", "campaignId", "senderId"] as const).filter(
    (field) => others[field] !== undefined,
  );
  if (search === undefined && wanted.length === 0) return undefined;
  const sought = search === undefined ? undefined : new TextSearch(search);
  return (record) =>
    wanted.every((field) => record[field] === others[field]) &&
    sought?.matches(record.to, record.message) !== false;
}

/** Whether a message waits for its scheduled time. */
function isWaiting({ status, scheduledAt }: MessageRecord, at: Date): boolean {
  return status === "queued" && scheduledAt !== undefined && scheduledAt > at.toISOString();
}
