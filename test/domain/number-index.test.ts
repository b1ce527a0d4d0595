import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { MessagesQuery } from "../../shared/api/contract/messages-query.ts";
import { CountsRecord, noteDay } from "../../shared/messages/counts/counts.ts";
import { SentToRecord } from "../../shared/messages/counts/number-index.ts";
import { messagesOfDay, recount } from "../../shared/messages/counts/recount.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { rowsOfNumber } from "../../shared/messages/search/by-number.ts";
import { searchMessages } from "../../shared/messages/search/find.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, epochSeconds } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { findItem, queryItems } from "../../shared/platform/table/read.ts";
import {
  idInShard,
  messageKey,
  reshard,
  shardOf,
  type DayShard,
  type Sharded,
} from "../../shared/platform/table/shards.ts";
import { deleteItem, putItem, putOf, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { between, oneOf, randomFrom, type Random } from "../chaos/random.ts";
import { sentMessage } from "../support/message-records.ts";
import { isNightly } from "../support/second-opinions.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";

const first = Date.parse("2031-03-01T00:00:00Z");
const days = 12;
const smallPasses = { batches: 2, batchSize: 20 };

/** Writes a message that was accepted at a moment. */
async function accept(
  sharded: Sharded,
  moment: number,
  fields: Partial<MessageRecord>,
): Promise<MessageRecord> {
  vi.setSystemTime(moment);
  const { organizationId } = sharded;
  const message = sentMessage(organizationId, { id: idInShard(sharded, newId("msg")), ...fields });
  await putItem(putOf(messageKey(message), message));
  return message;
}

/** Seeds messages of several days. The numbers have few different ends, so that searches find several. */
async function seeded(random: Random, organizationId: string): Promise<MessageRecord[]> {
  const messages: MessageRecord[] = [];
  for (let day = 0; day < days; day += 1) {
    // Some days have no messages, and some need several passes.
    const count = oneOf(random, [0, 3, 40, 130]);
    const sharded = await readWallet(organizationId);
    for (let each = 0; each < count; each += 1) {
      const isAtMidnight = random() < 0.1;
      const moment = first + day * dayMs + Math.floor(random() * (isAtMidnight ? 30_000 : dayMs));
      // A message that is accepted at the end of a day may get the id of the next day.
      const queuedAt = new Date(moment - between(random, 0, 50) * 1_000).toISOString();
      const to = `1${between(random, 1, 3)}0555${oneOf(random, ["00", "10", "31"])}${between(random, 10, 40)}`;
      const status = oneOf(random, ["sent", "failed"] as const);
      messages.push(await accept(sharded, moment, { to, queuedAt, status }));
    }
    if (day === 5) await reshard(organizationId, between(random, 3, 8), 1);
  }
  return messages.toSorted((one, two) => (one.id < two.id ? 1 : -1));
}

/** Leaves a count that is not finished as a release without an index does. */
async function countWithoutIndex({ counter, numbers, day }: DayShard): Promise<void> {
  const found = await findItem(CountsRecord, counter, { consistent: true });
  if (found?.unfinished === undefined) return;
  const { isIndexed: _, ...unfinished } = found.unfinished;
  await updateItem(CountsRecord, updateOf(counter, { set: { unfinished } }));
  const items = await queryItems(z.object({ sk: z.string() }), {
    pk: numbers,
    limit: 1_000,
    consistent: true,
  });
  for (const { sk } of items.filter((each) => each.sk.includes(day))) await deleteItem({ pk: numbers, sk });
}

/** Indexes some of the past days, some of them partly, repeatedly or by two workers. */
async function indexSome(random: Random, messages: readonly MessageRecord[]): Promise<void> {
  const shards = new Map(messages.map((message) => [JSON.stringify(shardOf(message)), shardOf(message)]));
  for (const shard of shards.values()) {
    if (random() < 0.2) continue;
    await noteDay(shard);
    const day = messagesOfDay(shard);
    const limits = random() < 0.7 ? smallPasses : undefined;
    const look = await recount(day, limits);
    // A crash after the items of a pass: the counter is as before it.
    if (random() < 0.2) await deleteItem(shard.counter);
    if (look === "unfinished" && random() < 0.2) continue;
    if (random() < 0.5) await countWithoutIndex(shard);
    while ((await recount(day, limits)) === "unfinished");
    if (random() < 0.3) await Promise.all([recount(day, limits), recount(day, limits)]);
  }
}

async function walk(organizationId: string, query: Partial<MessagesQuery>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const { rows, meta } = await listMessages(ownerOf(organizationId), {
      page: 1,
      limit: 7,
      ...query,
      ...(cursor === undefined ? {} : { cursor }),
    });
    ids.push(...rows.map(({ id }) => id));
    cursor = meta.nextCursor;
  }
  return ids;
}

const [runs, searches] = isNightly ? [[1, 2, 3, 4], 8] : [[1], 3];

it.each(runs)("a search by number has the result of a full scan, whatever is indexed (%i)", async () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = randomFrom(seed);
  const organizationId = await openWallet(1_000_000);
  const messages = await seeded(random, organizationId);
  vi.setSystemTime(first + days * dayMs);
  await indexSome(random, messages);
  for (let search = 0; search < searches; search += 1) {
    const { to } = oneOf(random, messages);
    const end = to.slice(-between(random, 4, to.length));
    // Each bound is at a message, or between its acceptance and its id.
    const [after = "", before = ""] = [oneOf(random, messages), oneOf(random, messages)]
      .map(({ queuedAt }) => new Date(Date.parse(queuedAt) + between(random, 0, 1)).toISOString())
      .toSorted();
    const bounds = random() < 0.5 ? {} : { after, before };
    const status = random() < 0.5 ? ("sent" as const) : undefined;
    const { after: earliest = "", before: latest = "~" }: Pick<MessagesQuery, "after" | "before"> = bounds;
    const inTime = messages.filter(
      ({ queuedAt, ...message }) =>
        earliest <= queuedAt && queuedAt < latest && (status === undefined || message.status === status),
    );
    const wanted = inTime.filter((message) => message.to.endsWith(end));
    const found = await walk(organizationId, { search: end, status, ...bounds });
    expect(found, `seed ${seed}`).toEqual(wanted.map(({ id }) => id));
    const all = await walk(organizationId, { status, ...bounds });
    expect(all, `seed ${seed}`).toEqual(inTime.map(({ id }) => id));

    // The same in small steps.
    const steps: string[] = [];
    const sharded = await readWallet(organizationId);
    for (let cut: string | undefined, isFirst = true; isFirst || cut !== undefined; isFirst = false) {
      const rows = rowsOfNumber(sharded, end, { after: cut }, between(random, 1, 60));
      cut = undefined;
      for await (const { key, item, isCutOff } of rows) {
        if (item !== undefined) steps.push(item.id);
        if (isCutOff === true) cut = key.sk;
        if (isCutOff === true) break;
      }
    }
    const unfiltered = messages.filter((message) => message.to.endsWith(end)).map(({ id }) => id);
    expect(steps, `seed ${seed}`).toEqual(unfiltered);
    expect((await searchMessages(sharded, { to, limit: 1_000 })).messages.map(({ id }) => id)).toEqual(
      messages.filter((message) => message.to === to).map(({ id }) => id),
    );
  }
});

it("a message that outlives the index of its day is still found", async () => {
  vi.stubEnv(environmentNames.messageRetentionDays, "30");
  const organizationId = await openWallet(0);
  const message = await accept(await readWallet(organizationId), first, { to: "447700900123" });
  vi.setSystemTime(first + 2 * dayMs);
  await recount(messagesOfDay(shardOf(message)));
  const { numbers } = shardOf(message);
  const items = await queryItems(SentToRecord, { pk: numbers, limit: 10, consistent: true });
  expect(items.map(({ expiresAt }) => expiresAt)).toEqual([epochSeconds(new Date(first + 32 * dayMs))]);
  expect(await walk(organizationId, { search: "0123" })).toEqual([message.id]);
  for (const { sk } of items) await deleteItem({ pk: numbers, sk });
  expect(await walk(organizationId, { search: "0123" })).toEqual([]);
  vi.setSystemTime(first + 32 * dayMs);
  expect(await walk(organizationId, { search: "0123" })).toEqual([message.id]);
});

it.each([
  { before: "9999-12-31T23:59:59Z" },
  { after: "9999-12-31T23:59:59Z" },
  { after: "0000-01-01T00:00:00Z", before: "9999-12-31T23:59:59-12:00" },
  { cursor: Buffer.from("msg_7ZZZZZZZZZ").toString("base64url") },
])("a search has bounds beyond all days (%o)", async (bounds) => {
  const organizationId = await openWallet(0);
  const message = await accept(await readWallet(organizationId), first, { to: "447700900123" });
  vi.setSystemTime(first + dayMs);
  await recount(messagesOfDay(shardOf(message)));
  const query = { page: 1, limit: 7, search: "0123", ...bounds };
  const { rows } = await listMessages(ownerOf(organizationId), query);
  expect(rows.map(({ id }) => id)).toEqual("after" in bounds && !("before" in bounds) ? [] : [message.id]);
});
