import { displayStatusOf } from "../../api/contract/display-status.ts";
import type { MessagesQuery } from "../../api/contract/messages-query.ts";
import type { Page } from "../../api/contract/primitives.ts";
import type { Message } from "../../api/contract/sms.ts";
import { findWallet, paidMessages } from "../../money/wallet/record.ts";
import type { Viewer } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { pageOf, readPage, readWantedPage } from "../../platform/table/page.ts";
import { messagesOf, testMessagesOf } from "../../platform/table/shards.ts";
import { numberEndOf, TextSearch } from "../../platform/text-search.ts";
import { hasExpired, idDelayMs, MessageRecord, toApiMessage } from "../message/record.ts";
import { maxScheduleAheadMs } from "../message/schedule.ts";
import { withoutUnpaid } from "../message/unpaid.ts";
import { rowsOfNumber } from "./by-number.ts";

/**
 * Returns a page of an organization's messages, newest first, filtered by the query. Test messages, which a person requests by
 * a parameter, have no counter.
 */
export async function listMessages(viewer: Viewer, query: MessagesQuery): Promise<Page<Message>> {
  const { organizationId, isTest: hasTestKey } = viewer;
  const isTest = hasTestKey || query.test === true;
  const { scheduled = false, after, before } = query;
  // DynamoDB rejects a range whose end is before its beginning.
  if (Date.parse(after ?? "") >= Date.parse(before ?? "")) return pageOf([], query);
  const at = now();
  const oldest = new Date(at.getTime() - maxScheduleAheadMs).toISOString();
  const wallet = isTest ? undefined : await findWallet(organizationId);
  const list = {
    pk: isTest ? testMessagesOf(organizationId) : wallet === undefined ? [] : messagesOf(wallet),
    newestFirst: true,
    consistent: true,
    // An id is made soon after the acceptance, so that a time is a range of the table's own key.
    ...(after === undefined ? {} : { from: firstIdAt("msg", new Date(after)) }),
    ...(before === undefined ? {} : { to: firstIdAt("msg", new Date(Date.parse(before) + idDelayMs)) }),
  };
  // The index of numbers has no writes of its own for a message. An index for the other filters would.
  const numberEnd = query.to ?? (query.search === undefined ? undefined : numberEndOf(query.search));
  const isWanted = matcherOf(query, at);
  const page =
    !isTest && !scheduled && isWanted === undefined
      ? await readPage(MessageRecord, list, query, wallet === undefined ? 0 : paidMessages(wallet))
      : await readWantedPage(
          MessageRecord,
          list,
          query,
          (record) =>
            !hasExpired(record) && (!scheduled || isWaiting(record, at)) && isWanted?.(record) !== false,
          {
            isPast: ({ queuedAt }) => scheduled && queuedAt < oldest,
            rowsIn:
              wallet === undefined || numberEnd === undefined
                ? undefined
                : (range) => rowsOfNumber(wallet, numberEnd, range),
          },
        );
  const remaining = page.rows.filter((record) => !hasExpired(record));
  const paid = await withoutUnpaid(organizationId, remaining);
  return { rows: paid.map((record) => toApiMessage(record, viewer)), meta: page.meta };
}

/** Returns whether a message has the wanted fields; undefined if a query wants none. */
function matcherOf(query: MessagesQuery, at: Date): ((record: MessageRecord) => boolean) | undefined {
  const { search, displayStatus, metadata, after, before, ...others } = query;
  const wanted = (
    ["status", "to", "apiKeyId", "batchId", "campaignId", "senderId", "reference"] as const
  ).filter((field) => others[field] !== undefined);
  const isFiltered = [search, displayStatus, metadata, after, before].some((each) => each !== undefined);
  if (!isFiltered && wanted.length === 0) return undefined;
  const [from, to] = [Date.parse(after ?? "0001-01-01"), Date.parse(before ?? "9999-12-31")];
  const numberEnd = search === undefined ? undefined : numberEndOf(search);
  const sought = search === undefined ? undefined : new TextSearch(search);
  const [name = "", ...value] = metadata?.split(":") ?? [];
  return (record) =>
    wanted.every((field) => record[field] === others[field]) &&
    (metadata === undefined || record.metadata?.[name] === value.join(":")) &&
    from <= Date.parse(record.queuedAt) &&
    Date.parse(record.queuedAt) < to &&
    (displayStatus === undefined || displayStatusOf(record, record.deliveryStatus, at) === displayStatus) &&
    (numberEnd === undefined
      ? sought?.matches(record.to, record.message) !== false
      : record.to.endsWith(numberEnd));
}

/** Whether a message waits for its scheduled time. */
function isWaiting({ status, scheduledAt }: MessageRecord, at: Date): boolean {
  return status === "queued" && scheduledAt !== undefined && scheduledAt > at.toISOString();
}
