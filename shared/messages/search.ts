import { firstIdAt } from "../platform/ids.ts";
import { keys, messagesPartition, partNames } from "../platform/table/keys.ts";
import { findItem, queryRows } from "../platform/table/table.ts";
import { listWallets, maxMessageParts } from "../wallet/record.ts";
import { hasExpired, MessageRecord } from "./record.ts";

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
    const found = await findItem(MessageRecord, keys.message(id, messageId), { consistent: true });
    return found === undefined || hasExpired(found) ? undefined : found;
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
  /** The most messages to find. */
  readonly limit: number;
}

/** The most messages of each shard that are examined, and how many together. */
const maxExamined = 100_000;
const examinedAtOnce = 500;

/**
 * Finds the newest messages of an organization that fit, newest first.
 * @returns them, and whether all that can fit were examined
 */
export async function searchMessages(
  organizationId: string,
  { to, status, since, limit }: MessageSearch,
): Promise<{ readonly messages: readonly MessageRecord[]; readonly isComplete: boolean }> {
  const isWanted = (message: MessageRecord): boolean =>
    !hasExpired(message) &&
    (to === undefined || message.to === to) &&
    (status === undefined || message.status === status);
  const from = since === undefined ? {} : { from: firstIdAt("msg", since) };
  const ofParts = await Promise.all(
    partNames(maxMessageParts).map(async (part) => {
      const pk = messagesPartition(organizationId, part);
      const wanted: MessageRecord[] = [];
      let after: string | undefined;
      for (let examined = 0; examined < maxExamined; examined += examinedAtOnce) {
        const range = { pk, ...from, newestFirst: true, consistent: true, after, limit: examinedAtOnce };
        const rows = await queryRows(MessageRecord, range);
        wanted.push(...rows.flatMap(({ item }) => (item !== undefined && isWanted(item) ? item : [])));
        if (rows.length < examinedAtOnce) return { wanted, isComplete: true };
        if (wanted.length > limit) return { wanted, isComplete: true };
        after = rows.at(-1)?.key.sk;
      }
      return { wanted, isComplete: false };
    }),
  );
  const newestFirst = ofParts
    .flatMap(({ wanted }) => wanted)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const isComplete = newestFirst.length <= limit && ofParts.every((part) => part.isComplete);
  return { messages: newestFirst.slice(0, limit), isComplete };
}
