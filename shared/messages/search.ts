import { firstIdAt } from "../platform/ids.ts";
import { keys, messagesPartition, partNames } from "../platform/table/keys.ts";
import { findItem, queryRows } from "../platform/table/table.ts";
import { listWallets, maxMessageParts } from "../wallet/record.ts";
import { hasExpired, MessageRecord } from "./record.ts";

/*
 * How an operator finds messages.
 */

/** Organizations that are asked for one message at the most, and at once. A miss is half a read unit. */
export const maxSearched = 10_000;
const searchedAtOnce = 25;

/**
 * The message with an id, whose key takes its organization. Without that the organizations with a wallet are asked one by
 * one, up to `maxSearched`.
 * @returns the message, and whether all organizations that can have it were asked
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

/** Which messages of an organization are searched for. */
export interface MessageSearch {
  readonly to?: string | undefined;
  readonly status?: MessageRecord["status"] | undefined;
  /** Those that were accepted then or later. */
  readonly since?: Date | undefined;
  /** How many are found at the most. */
  readonly limit: number;
}

/** Messages of each part of an organization's that are looked at, at the most and at once. */
const maxExamined = 100_000;
const examinedAtOnce = 500;

/**
 * The newest messages of an organization that are searched for, newest first.
 * @returns them, and whether all that can fit were looked at
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
