import { randomInt } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";

import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { CountsRecord, noteDay } from "../../shared/messages/counts/counts.ts";
import {
  noFigures,
  readMargins,
  sumOfMargins,
  writeFigures,
  type Margin,
  type MarginsRecord,
} from "../../shared/messages/counts/figures.ts";
import { messagesOfDay, readMarginsOfMessages, recount } from "../../shared/messages/counts/recount.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { markSent } from "../../shared/messages/message/transitions.ts";
import { newId } from "../../shared/platform/ids.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, updateItem, putOf } from "../../shared/platform/table/write.ts";
import { oneOf, randomFrom, type Random } from "../chaos/random.ts";
import { sentMessage } from "../support/message-records.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { inAllShards } from "../support/shards.ts";

const day = "2031-03-01";
const dayAfter = "2031-03-02";
const noon = `${day}T12:00:00.000Z`;

beforeEach(async () => {
  vi.setSystemTime(new Date(noon));
  await useOwnTable();
});

/** A message of the day as the table has it. */
async function put(organizationId: string, fields: Partial<MessageRecord>): Promise<MessageRecord> {
  const message = sentMessage(organizationId, {
    to: "447700900123",
    unitPriceMicros: 46_000,
    totalMicros: 46_000,
    ...fields,
  });
  await putItem(putOf(messageKey(message), message));
  return message;
}

async function allMargins(): Promise<MarginsRecord[]> {
  const found: MarginsRecord[] = [];
  for await (const each of readMargins(day)) found.push(each);
  return found;
}

function byName(margins: readonly Margin[]): Margin[] {
  return margins.toSorted((one, other) =>
    `${one.country} ${one.carrier}` < `${other.country} ${other.carrier}` ? -1 : 1,
  );
}

/** A message with any outcome, by any carrier, with its revenue and cost. */
function anyMessage(random: Random): Partial<MessageRecord> {
  const segments = oneOf(random, [1, 2, 3]);
  const unitPriceMicros = oneOf(random, [0, 7_900, 46_001, 999_999_999]);
  const fields = {
    to: oneOf(random, ["447700900123", "15005550000", "38344123456", "881612345678", "[removed]"]),
    segments,
    unitPriceMicros,
    totalMicros: segments * unitPriceMicros,
  };
  const status = oneOf(random, ["sent", "sent", "sent", "failed", "cancelled"] as const);
  const carrier = oneOf(random, [{ carrier: "aws" }, { carrier: "kannel" }, {}]);
  if (status !== "sent") {
    const unknown = { errorCode: "MESSAGE_OUTCOME_UNKNOWN", costMicros: 17_003, ...carrier } as const;
    return { ...fields, status, refund: "done", ...oneOf(random, [{}, status === "failed" ? unknown : {}]) };
  }
  return { ...fields, ...carrier, ...oneOf(random, [{}, { costMicros: 0 }, { costMicros: 31_007 }]) };
}

/** The margins of the messages, calculated independently. */
function expected(messages: readonly MessageRecord[]): Margin[] {
  const countries: Readonly<Record<string, string>> = {
    "447700900123": "GB",
    "15005550000": "US",
    "38344123456": "XK",
  };
  const isUnknown = ({ errorCode }: MessageRecord): boolean => errorCode === "MESSAGE_OUTCOME_UNKNOWN";
  const counted = messages.filter((message) => message.status === "sent" || isUnknown(message));
  const groups = Map.groupBy(
    counted,
    ({ to, carrier }) => `${countries[to] ?? "none"} ${carrier ?? "unknown"}`,
  );
  return [...groups].map(([name, group]) => {
    const [country = "", carrier = ""] = name.split(" ");
    const sent = group.filter(({ status }) => status === "sent");
    const sum = (of: (message: MessageRecord) => number, ofMessages = sent): number =>
      ofMessages.reduce((total, message) => total + of(message), 0);
    return {
      country,
      carrier,
      messages: sent.length,
      segments: sum(({ segments }) => segments),
      revenueMicros: sum(({ totalMicros }) => totalMicros),
      costMicros: sum(({ costMicros = 0 }) => costMicros),
      messagesWithoutCost: sent.filter(({ costMicros }) => costMicros === undefined).length,
      unknownMessages: group.length - sent.length,
      unknownCostMicros: sum(({ costMicros = 0 }) => costMicros, group.filter(isUnknown)),
    };
  });
}

const seed = randomInt(2 ** 31);

it(`a past day has the revenue and cost of its messages, however many times it is counted (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const [one, other] = [newId("org"), newId("org")];
  const messages: MessageRecord[] = [];
  for (let count = 0; count < 120; count += 1) {
    messages.push(await put(oneOf(random, [one, other]), anyMessage(random)));
  }
  for (const organizationId of [one, other]) await noteDay(dayShardOf(organizationId, day));
  vi.setSystemTime(new Date(`${dayAfter}T01:00:00Z`));
  // Twice, at the same time.
  await Promise.all([inAllShards(closeDays), inAllShards(closeDays)]);
  await inAllShards(closeDays);

  const records = await allMargins();
  expect(records.map(({ organizationId }) => organizationId)).toEqual([one, other].toSorted());
  for (const { organizationId, margins, closedAt } of records) {
    const own = messages.filter((message) => message.organizationId === organizationId);
    expect(closedAt).toBe(`${dayAfter}T01:00:00.000Z`);
    expect(byName(margins)).toEqual(byName(expected(own)));
    expect(byName(await readMarginsOfMessages(dayShardOf(organizationId, day)))).toEqual(
      byName(expected(own)),
    );
    // Equal to the dashboard's figures, to the micro-unit.
    const counts = await findItem(CountsRecord, dayShardOf(organizationId, day).counter);
    expect(counts?.closedAt).toBeDefined();
    expect(margins.reduce((sum, { revenueMicros }) => sum + revenueMicros, 0)).toBe(counts?.spentMicros);
  }
  const all = sumOfMargins(records.flatMap(({ margins }) => margins));
  expect(byName(all)).toEqual(byName(expected(messages)));
});

it("is calculated over several batches, and only from messages of the day", async () => {
  const organizationId = newId("org");
  const messages: MessageRecord[] = [];
  for (let count = 0; count < 20; count += 1) messages.push(await put(organizationId, { carrier: "aws" }));
  vi.setSystemTime(new Date(`${dayAfter}T00:00:00Z`));
  await put(organizationId, { carrier: "aws" });
  const shard = dayShardOf(organizationId, day);
  const looks: string[] = [];
  while (looks.at(-1) !== "closed") {
    looks.push(await recount(messagesOfDay(shard), { batches: 2, batchSize: 3 }));
    expect((await allMargins()).length).toBe(looks.at(-1) === "closed" ? 1 : 0);
  }
  expect(looks.length).toBeGreaterThan(3);
  expect((await allMargins())[0]?.margins).toEqual(expected(messages));
  expect(await readMarginsOfMessages(dayShardOf(organizationId, day))).toEqual(expected(messages));
  const counts = await findItem(CountsRecord, shard.counter);
  expect(counts).not.toHaveProperty("unfinished");
});

it("is as of the last count while a message waits, and then final, also after late writes", async () => {
  const organizationId = newId("org");
  const sent = await put(organizationId, { carrier: "aws", costMicros: 40_000 });
  const waiting = await put(organizationId, {
    status: "queued",
    leaseToken: "a",
    scheduledAt: "2031-03-05T12:00:00.000Z",
  });
  await noteDay(dayShardOf(organizationId, day));
  vi.setSystemTime(new Date(`${dayAfter}T01:00:00Z`));
  await inAllShards(closeDays);
  const [open] = await allMargins();
  expect(open?.margins).toEqual(expected([sent]));
  expect(open).not.toHaveProperty("closedAt");

  vi.setSystemTime(new Date("2031-03-05T12:00:00Z"));
  const handedOver = { carrierReference: "1", costMicros: 40_000 };
  await updateItem(MessageRecord, markSent(waiting, new Date(), handedOver));
  vi.setSystemTime(new Date("2031-03-06T01:00:00Z"));
  await inAllShards(closeDays);
  const [closed] = await allMargins();
  expect(closed?.closedAt).toBe("2031-03-06T01:00:00.000Z");
  expect(closed?.margins.map(({ messages, costMicros }) => [messages, costMicros])).toEqual([
    [1, 40_000],
    [1, 40_000],
  ]);
  await writeFigures(dayShardOf(organizationId, day), { ...noFigures, margins: open?.margins ?? [] }, false);
  expect(await allMargins()).toEqual([closed]);
});

it("of an organization with several shards is counted for each shard", async () => {
  const organizationId = newId("org");
  for (const shard of ["", "1", "1"]) {
    await put(organizationId, { id: `${newId("msg")}${shard}`, carrier: "aws" });
  }
  for (const index of [0, 1]) await noteDay(dayShardOf(organizationId, day, index));
  vi.setSystemTime(new Date(`${dayAfter}T01:00:00Z`));
  await inAllShards(closeDays);
  const records = await allMargins();
  expect(records.map(({ sk, margins }) => [sk, margins[0]?.messages])).toEqual([
    [organizationId, 1],
    [`${organizationId}#1`, 2],
  ]);
});
