import { listWallets } from "../../money/wallet/record.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { itemsIn, rowsOf, type List } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey, messagesOf, type Sharded } from "../../platform/table/shards.ts";
import { hasExpired, MessageRecord } from "../message/record.ts";
import { withoutUnpaid } from "../message/unpaid.ts";
import { rowsOfNumber } from "./by-number.ts";

/*
 * The operator's search for messages.
 */

/** The most organizations that are searched for one message, and how many together. A miss is half a read unit. */
export const maxSearched = 10_000;
const searchedAtOnce = 25;

/**
 * Finds a message by its id. Its key needs its organization; without that, the organizations with a wallet are searched, up
 * to `maxSearched`.
 * @returns the message, and whether all organizations that can have it were searched
 */
export async function findMessageById(
  messageId: string,
  organizationId?: string,
): Promise<{ readonly message: MessageRecord | undefined; readonly isComplete: boolean }> {
  const find = async (id: string): Promise<MessageRecord | undefined> => {
    const found = await findItem(MessageRecord, messageKey({ organizationId: id, id: messageId }), {
      consistent: true,
    });
    if (found === undefined || hasExpired(found)) return undefined;
    return (await withoutUnpaid(id, [found]))[0];
  };
  if (organizationId !== undefined) return { message: await find(organizationId), isComplete: true };
  let searched = 0;
  let batch: string[] = [];
  const findInBatch = async (): Promise<MessageRecord | undefined> => {
    const ids = batch;
    batch = [];
    searched += ids.length;
    return (await Promise.all(ids.map(find))).find((each) => each !== undefined);
  };
  for await (const id of listWallets()) {
    if (searched + batch.length === maxSearched) {
      return { message: await findInBatch(), isComplete: false };
    }
    batch.push(id);
    if (batch.length < searchedAtOnce) continue;
    const message = await findInBatch();
    if (message !== undefined) return { message, isComplete: true };
  }
  return { message: await findInBatch(), isComplete: true };
}

/** The conditions for messages of an organization. */
export interface MessageSearch {
  readonly to?: string | undefined;
  readonly status?: MessageRecord["status"] | undefined;
  /** The earliest time of acceptance. */
  readonly since?: Date | undefined;
  /** The time of acceptance before which all are. */
  readonly until?: Date | undefined;
  /** The most messages to find. */
  readonly limit: number;
  /** The most messages that are examined, of a search by number in each shard. */
  readonly maxExamined?: number;
}

/**
 * Finds the newest messages of an organization that fit, newest first.
 * @returns them, and whether all that can fit were examined
 */
export async function searchMessages(sharded: Sharded, search: MessageSearch): Promise<FoundMessages> {
  const found = await examineMessages(sharded, search);
  return { ...found, messages: await withoutUnpaid(sharded.organizationId, found.messages) };
}

interface FoundMessages {
  readonly messages: readonly MessageRecord[];
  readonly isComplete: boolean;
}

async function examineMessages(
  sharded: Sharded,
  { to, status, since, until, limit, maxExamined = 800_000 }: MessageSearch,
): Promise<FoundMessages> {
  const range = rangeOf(since, until);
  const isWanted = (message: MessageRecord): boolean =>
    !hasExpired(message) &&
    (to === undefined || message.to === to) &&
    (status === undefined || message.status === status);
  const pk = messagesOf(sharded);
  const list = { pk, ...range, newestFirst: true, consistent: true };
  const rows = to === undefined ? rowsOf(MessageRecord, list) : rowsOfNumber(sharded, to, range, maxExamined);
  const messages: MessageRecord[] = [];
  let examined = 0;
  for await (const { item, isCutOff = false } of rows) {
    examined += 1;
    if (isCutOff || examined > maxExamined) return { messages, isComplete: false };
    if (item === undefined || !isWanted(item)) continue;
    if (messages.length === limit) return { messages, isComplete: false };
    messages.push(item);
  }
  return { messages, isComplete: true };
}

/** Yields the messages of an organization that were accepted in a time, oldest first. Those that cannot be read are reported. */
export function messagesBetween(sharded: Sharded, since: Date, until: Date): AsyncGenerator<MessageRecord> {
  return itemsIn(MessageRecord, { pk: messagesOf(sharded), ...rangeOf(since, until), skipsUnreadable: true });
}

function rangeOf(since: Date | undefined, until: Date | undefined): Pick<List, "from" | "to"> {
  return {
    ...(since === undefined ? {} : { from: firstIdAt("msg", since) }),
    ...(until === undefined ? {} : { to: firstIdAt("msg", until) }),
  };
}
