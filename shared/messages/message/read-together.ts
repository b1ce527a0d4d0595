import { rowsOf } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { unreadableOf } from "../../platform/table/records.ts";
import { messageKey, messagesOf, type Sharded } from "../../platform/table/shards.ts";
import { MessageRecord } from "./record.ts";

/** The number of messages that are read at the same time. */
const maxReadTogether = 25;

/**
 * Reads messages by their ids, consistently. A range query finds almost all messages of consecutive ledger entries, which
 * have the same order. The others are read individually. The result may have other messages of the range.
 * @param ids at most a thousand
 */
export async function readMessages(
  organization: Sharded,
  ids: readonly string[],
): Promise<Map<string, MessageRecord | "unreadable">> {
  const found = new Map<string, MessageRecord | "unreadable">();
  const sorted = ids.toSorted();
  const [from = "", to = ""] = [sorted[0], sorted.at(-1)];
  // DynamoDB rejects an empty key.
  const list = { pk: ids.length === 0 ? [] : messagesOf(organization), from, to, consistent: true };
  const maxInRange = 2 * ids.length;
  for await (const { key, item } of rowsOf(MessageRecord, list, Math.min(maxInRange, 500))) {
    found.set(key.sk, item ?? "unreadable");
    if (found.size === maxInRange) break;
  }
  const missing = sorted.filter((id) => !found.has(id));
  for (let start = 0; start < missing.length; start += maxReadTogether) {
    await Promise.all(
      missing.slice(start, start + maxReadTogether).map(async (id) => {
        const key = messageKey({ organizationId: organization.organizationId, id });
        const message = await findItem(MessageRecord, key, { consistent: true }).catch(unreadableOf);
        if (message !== undefined) found.set(id, message);
      }),
    );
  }
  return found;
}
