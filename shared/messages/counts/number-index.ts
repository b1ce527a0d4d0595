import * as z from "zod/mini";

import { dayMs, dayOf, now } from "../../platform/clock.ts";
import { firstIdAt, momentOf } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { firstItems } from "../../platform/table/lists.ts";
import type { DayShard } from "../../platform/table/shards.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { retentionEnd, type MessageRecord } from "../message/record.ts";

/*
 * The number index: the messages of a day by the last digits of their numbers. It finds the messages to a number without
 * reading all others. The pass that counts a finished day writes it, at about 0.04 write units a message. It has only the
 * last four digits of the number and the id of each message. A search reads the messages themselves and compares their
 * numbers, so that erased numbers are not found.
 */

/** The messages of one pass whose numbers end with the digits of the key. */
export const SentToRecord = z.object({
  entity: z.literal("sentTo"),
  sk: z.string(),
  /** For each message the last digits of its number, and its id without the prefix. */
  entries: z.array(z.string()),
  /** When the table deletes it, in seconds since the epoch. */
  expiresAt: z.optional(z.int()),
});

/** How many digits of a number an entry has. A search needs at least as many. */
export const indexedDigits = 4;

/** States that the index has all messages of a shard of a day. */
export const Indexed = z.object({
  /** From the start of this day to the end of the counter's day, the index has all messages of the shard. */
  since: z.string(),
  /** When the table deletes the first items of the day. */
  expiresAt: z.optional(z.int()),
});
export type Indexed = z.infer<typeof Indexed>;

/** Concurrent writes. */
const maxTogether = 25;

/** Most items have at most about this many messages, which is about 3 kB. */
const messagesInItem = 100;

/**
 * Adds the messages of a pass to the index. A repeated pass overwrites its items. If it had other messages before, some items
 * remain; a search compares them with the messages.
 * @param after the position of the pass: the id of the last message before it
 */
export async function indexNumbers(
  { numbers, day }: DayShard,
  messages: readonly MessageRecord[],
  after = "",
): Promise<void> {
  const suffixLength = [1, 10].filter((groups) => messages.length > groups * messagesInItem).length;
  const end = firstIdAt("msg", new Date(Date.parse(day) + dayMs));
  const indexed = messages.filter(({ id, to }) => id < end && /^\d+$/.test(to));
  const groups = [...Map.groupBy(indexed, ({ to }) => to.slice(to.length - suffixLength))];
  while (groups.length > 0) {
    const puts = groups.splice(0, maxTogether).map(async ([digits, group]) => {
      const entries = group.map(({ id, to }) => `${to.slice(-indexedDigits)}${id.slice("msg_".length)}`);
      await putItem(
        putOf(keys.sentTo(numbers, digits, day, after), { entity: "sentTo", entries, ...expiry() }),
      );
    });
    await Promise.all(puts);
  }
}

/** Returns how far the index reaches back from a day that it has, over days without messages in the shard. */
export async function indexedDay({ messages, day }: DayShard): Promise<Indexed> {
  const to = firstIdAt("msg", new Date(day));
  const Keyed = z.object({ sk: z.string() });
  const [before] = await firstItems(Keyed, { pk: messages, to, newestFirst: true, consistent: true }, 1);
  const since = new Date(before === undefined ? 0 : momentOf(before.sk).getTime() + dayMs);
  return { since: dayOf(since.toISOString()), ...expiry() };
}

/** Messages that end later than the day is counted outlive the index. They are then searched without it. */
function expiry(): Pick<Indexed, "expiresAt"> {
  const expiresAt = retentionEnd(now());
  return expiresAt === undefined ? {} : { expiresAt };
}
