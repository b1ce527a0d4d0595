import { randomInt } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";

import type { Usage as UsageOf } from "../../shared/api/contract/usage.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { getUsage } from "../../shared/figures/statements/usage.ts";
import type { NewMessage } from "../../shared/messages/accept/new-message.ts";
import { CountsRecord, noteDay } from "../../shared/messages/counts/counts.ts";
import {
  noFigures,
  sumOfRows,
  UsageRecord,
  writeFigures,
  type UsageRow,
} from "../../shared/messages/counts/figures.ts";
import { messagesOfDay, readNewestUsage, recount } from "../../shared/messages/counts/recount.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { reshard, shardsOfDay } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { oneOf, randomFrom } from "../chaos/random.ts";
import { only, accept, reject, ScriptedCarrier } from "../support/carriers.ts";
import { damage } from "../support/items.ts";
import { acceptFor, acceptBlock } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { inAllShards } from "../support/shards.ts";
import { checkFor, codeIn, number, sentTexts, setFee, startFor } from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, openWallet } from "../support/wallets.ts";

const month = "2031-03";
const day = `${month}-01`;
const british = "447400123456";

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime(new Date(`${day}T12:00:00Z`));
  await useOwnTable();
  organizationId = await openWallet(10_000_000);
});

/** Accepts a message, which its carrier then accepts or rejects. */
async function send(fields: Partial<NewMessage>, isRejected = false): Promise<void> {
  const [message] = await acceptBlock(organizationId, 1, fields);
  const job = { organizationId, messageId: message?.id ?? "" };
  await submitMessage(job, only(new ScriptedCarrier(isRejected ? reject : accept)));
  await refundMessage(job);
}

/** Closes the days before a moment, as the workers do. */
async function closeAt(moment: string): Promise<void> {
  vi.setSystemTime(new Date(moment));
  await inAllShards(async (shard) => (await reconcileWallets(shard)).wallets);
  vi.setSystemTime(new Date(Date.parse(moment) + 3_600_000));
  await inAllShards(closeDays);
}

async function entriesOf(): Promise<LedgerEntryRecord[]> {
  const wallet = await readWallet(organizationId);
  return readLedger(wallet, { from: 1, to: wallet.seq, limit: 10_000 });
}

function sumOfAmounts(entries: readonly LedgerEntryRecord[]): number {
  return entries.reduce((sum, { amountMicros }) => sum + amountMicros, 0) / 1_000_000;
}

const seed = randomInt(2 ** 31);

it(`the amounts of a closed month are those of the ledger, by every name (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  organizationId = await openWallet(100_000_000);
  const campaigns = [newId("cmp"), newId("cmp")];
  const apiKeys = [newId("key"), newId("key")];
  for (let count = 0; count < 40; count += 1) {
    vi.setSystemTime(Date.now() + oneOf(random, [1_000, 7_200_000]));
    const to = oneOf(random, [british, "15005550000", "881612345678"]);
    const origin = oneOf(random, [
      {},
      { campaignId: oneOf(random, campaigns) },
      { apiKeyId: oneOf(random, apiKeys) },
    ]);
    const message = oneOf(random, ["hello", "long ".repeat(50)]);
    await send({ message, to, senderId: count % 3 === 0 ? "SHOP" : "ACME", ...origin }, random() < 0.3);
  }
  await closeAt(`${month}-31T23:00:00Z`);

  const ledger = await entriesOf();
  const charged = ledger.filter(({ type }) => type === "message");
  const refunds = ledger.filter(({ type }) => type === "refund");
  const rowsBy = async (by: UsageOf["by"]) => {
    const usage = await getUsage(organizationId, { month, by });
    expect(usage).toMatchObject({ isFinal: false, missingDays: [] });
    const total = -sumOfAmounts(charged);
    expect(usage.total.amount + usage.total.refunded).toBeCloseTo(total, 9);
    expect(usage.total.refunded).toBeCloseTo(sumOfAmounts(refunds), 9);
    return usage.rows;
  };
  for (const { name, amount, refunded } of await rowsBy("day")) {
    const ofDay = charged.filter(({ createdAt }) => createdAt.startsWith(name));
    expect(amount + refunded).toBeCloseTo(-sumOfAmounts(ofDay), 9);
  }
  const nameOf = {
    country: ({ country = "none" }: LedgerEntryRecord) => country,
    campaign: ({ campaignId = "none" }: LedgerEntryRecord) => campaignId,
  };
  for (const by of ["country", "campaign"] as const) {
    const rows = await rowsBy(by);
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(charged.map(nameOf[by])));
    for (const { name, amount, refunded, segments } of rows) {
      const of = (entries: LedgerEntryRecord[]) => entries.filter((entry) => nameOf[by](entry) === name);
      const [debits, credits] = [of(charged), of(refunds)];
      expect(amount).toBeCloseTo(-sumOfAmounts([...debits, ...credits]), 9);
      expect(refunded).toBeCloseTo(sumOfAmounts(credits), 9);
      const segmentsOf = (entries: LedgerEntryRecord[]) =>
        entries.reduce((sum, entry) => sum + (entry.segments ?? 0), 0);
      expect(segments).toBe(segmentsOf(debits) - segmentsOf(credits));
    }
  }
  expect((await rowsBy("key")).every(({ name }) => ["none", ...apiKeys].includes(name))).toBe(true);
  expect((await rowsBy("sender")).map(({ name }) => name).toSorted()).toEqual(["ACME", "SHOP"]);

  vi.setSystemTime(new Date("2031-04-01T01:00:00Z"));
  expect(await getUsage(organizationId, { month, by: "country" })).toMatchObject({ isFinal: true });
});

it("the present day has its counters, and the same amounts from its messages", async () => {
  await acceptFor(organizationId, { to: british });
  const scheduledAt = `${month}-04T12:00:00.000Z`;
  const { messageId } = await acceptFor(organizationId, { to: british, scheduledAt });
  await cancelMessage(ownerOf(organizationId), messageId);
  const counted = { messages: 1, amount: 0.046, refunded: 0.046 };
  const byDay = await getUsage(organizationId, { by: "day" });
  expect(byDay).toMatchObject({ month, total: counted, rows: [{ name: day, ...counted }], missingDays: [] });
  expect(byDay.rows[0]).not.toHaveProperty("segments");
  for (const by of ["country", "campaign", "key", "sender"] as const) {
    const usage = await getUsage(organizationId, { by });
    expect(usage).toMatchObject({ total: { ...counted, segments: 1 }, missingDays: [], isFinal: false });
    expect(usage.includedSince).toBeUndefined();
  }
});

it("the newest messages of a day count up to a bound, across shards, with the time of the oldest", async () => {
  await reshard(organizationId, 8, 1);
  for (let count = 0; count < 12; count += 1) {
    vi.setSystemTime(new Date(`${day}T12:00:00.000Z`).getTime() + count * 1_000);
    await send({ to: british });
  }
  const shards = shardsOfDay(await readWallet(organizationId), day);
  const newest = await readNewestUsage(shards, 5);
  expect(newest).toMatchObject({ read: 5, since: `${day}T12:00:07.000Z` });
  expect(newest.usage.country).toMatchObject([{ name: "GB", messages: 5 }]);
  const all = await readNewestUsage(shards, 12);
  expect([all.read, all.since, all.usage.country[0]?.messages]).toEqual([12, undefined, 12]);
});

it("a day with too many messages has its newest ones, and names itself with their time", async () => {
  organizationId = await openWallet(100_000_000);
  for (let block = 0; block < 105; block += 1) {
    vi.setSystemTime(new Date(`${day}T12:00:00.000Z`).getTime() + block * 1_000);
    await acceptBlock(organizationId, 48);
  }
  const usage = await getUsage(organizationId, { day, by: "country" });
  // The newest 5,000 of 5,040 messages: the first block is included in part.
  expect(usage).toMatchObject({ total: { messages: 5_000 }, missingDays: [day], isFinal: false });
  expect(usage.includedSince).toBe(`${day}T12:00:00.000Z`);
  expect((await getUsage(organizationId, { day, by: "day" })).total.messages).toBe(5_040);
});

it("a day alone has only its own messages, also those of its last minute, and is final on its own", async () => {
  vi.setSystemTime(new Date(`${day}T23:59:59.999Z`));
  await send({ to: british });
  vi.setSystemTime(new Date(`${month}-02T00:00:00.000Z`));
  await send({ to: british });
  await send({ to: british });
  const read = async (of: string) => getUsage(organizationId, { day: of, by: "sender" });
  const messagesOf = async (of: string) => (await read(of)).total.messages;
  expect([await messagesOf(day), await messagesOf(`${month}-02`)]).toEqual([1, 2]);
  await closeAt(`${month}-02T00:30:00Z`);
  expect(await read(day)).toMatchObject({ isFinal: true, day, month, total: { messages: 1 } });
});

it("a day that an older release counted has no senders, and is named", async () => {
  await send({ to: british });
  await closeAt(`${month}-02T00:30:00Z`);
  const { usage } = dayShardOf(organizationId, day);
  const { sender: _sender, ...older } = (await findItem(UsageRecord, usage))?.usage ?? {};
  await damage(usage, { usage: older });
  const read = async (by: "key" | "sender") => getUsage(organizationId, { month, by });
  expect(await read("sender")).toMatchObject({ rows: [], missingDays: [day] });
  expect(await read("key")).toMatchObject({ total: { messages: 1 }, missingDays: [] });
});

it("a day that waits for a message is as of its last count, and a closed one does not change", async () => {
  const scheduledAt = `${month}-04T12:00:00.000Z`;
  const job = await acceptFor(organizationId, { to: british, scheduledAt });
  await closeAt(`${month}-02T00:30:00Z`);
  const read = async () => getUsage(organizationId, { month, by: "country" });
  const sums = { messages: 1, segments: 1, refunded: 0 };
  expect(await read()).toMatchObject({ rows: [{ name: "GB", ...sums }], missingDays: [] });
  vi.setSystemTime(new Date(scheduledAt));
  await submitMessage(job, only(new ScriptedCarrier(reject)));
  await closeAt(`${month}-05T00:30:00Z`);
  const { rows } = await read();
  expect(rows).toMatchObject([{ name: "GB", messages: 0, amount: 0 }]);
  await writeFigures(dayShardOf(organizationId, day), noFigures, false);
  expect((await read()).rows).toEqual(rows);
});

it.each(["usage", "senders"])(
  "is counted over several runs, and again after a release without %s",
  async (lacks) => {
    for (let count = 0; count < 20; count += 1) await send({ to: british });
    vi.setSystemTime(new Date(`${month}-02T01:00:00Z`));
    const shard = dayShardOf(organizationId, day);
    const limits = { batches: 2, batchSize: 3 };
    await noteDay(shard);
    expect(await recount(messagesOfDay(shard), limits)).toBe("unfinished");
    const counts = await findItem(CountsRecord, shard.counter);
    const { usage, ...older } = counts?.unfinished ?? {};
    const { sender: _sender, ...withoutSenders } = usage ?? {};
    await damage(shard.counter, {
      unfinished: lacks === "usage" ? older : { ...older, usage: withoutSenders },
    });
    while ((await recount(messagesOfDay(shard), limits)) === "unfinished");
    const { total, missingDays } = await getUsage(organizationId, { month, by: "sender" });
    expect([total.messages, missingDays]).toEqual([20, []]);
  },
);

it("days that an older release closed have no rows by country, and are named", async () => {
  await send({ to: british });
  await closeAt(`${month}-02T00:30:00Z`);
  await deleteItem(dayShardOf(organizationId, day).usage);
  vi.setSystemTime(new Date("2031-04-01T01:00:00Z"));
  const byDay = await getUsage(organizationId, { month, by: "day" });
  expect(byDay).toMatchObject({ isFinal: true, rows: [{ name: day, messages: 1 }] });
  const byKey = await getUsage(organizationId, { month, by: "key" });
  expect(byKey).toMatchObject({ isFinal: false, rows: [], missingDays: [day] });
});

it("adds up the shards of an organization, and misses a day until all of them are counted", async () => {
  await reshard(organizationId, 8, 1);
  for (let count = 0; count < 12; count += 1) await send({ to: british });
  await closeAt(`${month}-02T00:30:00Z`);
  const read = async () => getUsage(organizationId, { month, by: "country" });
  expect(await read()).toMatchObject({ total: { messages: 12, segments: 12 }, missingDays: [] });
  const { messageId = "" } = (await entriesOf()).at(-1) ?? {};
  const shard = Number(messageId.slice("msg_".length + 26));
  await deleteItem(dayShardOf(organizationId, day, shard).usage);
  expect(await read()).toMatchObject({ total: { messages: 0 }, missingDays: [day] });
});

it("keeps the largest rows, and the sum of the others", () => {
  const rows = Array.from({ length: 500 }, (_, index): UsageRow => {
    return {
      name: `cmp_${index}`,
      messages: 1,
      segments: 2,
      amountMicros: index,
      refundedMicros: 1,
      feeMicros: 0,
    };
  });
  const sums = sumOfRows([...sumOfRows(rows), ...rows]);
  expect(sums).toHaveLength(300);
  expect(sums.at(-1)?.name).toBe("other");
  expect(sums[0]).toMatchObject({ name: "cmp_499", messages: 2, amountMicros: 998 });
  const total = (of: (row: UsageRow) => number) => sums.reduce((sum, row) => sum + of(row), 0);
  expect(total(({ messages }) => messages)).toBe(1_000);
  expect(total(({ amountMicros }) => amountMicros)).toBe(499 * 500);
});

it("a month is final once its fees are decided, and is then the ledger with them", async () => {
  await setFee(50_000);
  organizationId = await openOrganization(10_000_000);
  const started = [await startFor(organizationId), await startFor(organizationId, { to: "15005550008" })];
  const [text] = await sentTexts();
  expect(await checkFor(organizationId, { to: number, code: codeIn(text) })).toMatchObject({ valid: true });
  expect((await getUsage(organizationId, { month, by: "key" })).total).toMatchObject({ fees: 0.1 });
  await closeAt(`2031-04-01T01:00:00Z`);
  expect(await getUsage(organizationId, { month, by: "day" })).toMatchObject({
    isFinal: false,
    total: { messages: 2, amount: 0.0158, fees: 0.1 },
  });
  for (const { id, expiresAt } of started) {
    await completeEnding({ organizationId, verificationId: id, validUntil: expiresAt });
  }
  await closeAt(`2031-04-03T01:00:00Z`);
  for (const by of ["day", "country", "key"] as const) {
    const { isFinal, total, rows } = await getUsage(organizationId, { month, by });
    expect([isFinal, total.fees, rows.length]).toEqual([true, 0.05, 1]);
    const charged = (await entriesOf()).filter(({ type }) => type !== "top_up");
    expect(total.amount + (total.fees ?? 0)).toBeCloseTo(-sumOfAmounts(charged), 9);
  }
});
