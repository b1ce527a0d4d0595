import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { closeBooks } from "../../shared/figures/books/close.ts";
import { findBooks, findBooksTotal, readBooks } from "../../shared/figures/books/record.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { writeMargins } from "../../shared/messages/counts/margins.ts";
import { readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { pendingWorkOf } from "../../shared/platform/jobs/pending-work.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import {
  deleteItem,
  putItem,
  updateItem,
  updateOf,
  putOf,
  putUnchecked,
} from "../../shared/platform/table/write.ts";
import { between, oneOf, randomFrom } from "../chaos/random.ts";
import { chargeMessages, settle } from "../support/books.ts";
import { dayShardOf, keyOfEntry } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openWallet } from "../support/wallets.ts";

const closing = { closedBy: "Ada" };

function at(moment: string): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(moment) });
}

beforeEach(async () => {
  at("2031-03-10T12:00:00.000Z");
  await useOwnTable();
});
afterEach(async () => {
  vi.useRealTimers();
  await takeJobs("emails");
});

async function post(
  organizationId: string,
  type: Parameters<typeof postToWallet>[0]["type"],
  amountMicros: number,
  moment?: string,
): Promise<void> {
  if (moment !== undefined) at(moment);
  await postToWallet({ organizationId, type, amountMicros });
}

/** Settles the wallets and counts the days, as the workers do, and closes the month. */
async function close(
  month: string,
  organizations: readonly string[],
  moment: string,
): ReturnType<typeof closeBooks> {
  at(moment);
  for (const each of organizations) await settle(each);
  await inAllShards(closeDays);
  return closeBooks(month, closing);
}

async function ledger(organizationId: string): Promise<LedgerEntryRecord[]> {
  const wallet = await readWallet(organizationId);
  return readLedger(wallet, { from: 1, to: wallet.seq, limit: wallet.seq }, { skipsUnreadable: true });
}

it("a month has the movements of its entries, and the next one continues with its closing balance", async () => {
  const customer = await openWallet(10_000_000);
  await chargeMessages(customer, {
    amountMicros: 7_900,
    country: "GB",
    segments: 1,
    at: "2031-03-10T12:00:00Z",
  });
  await chargeMessages(customer, { amountMicros: 1, at: "2031-03-31T23:59:59.999Z" });
  await post(customer, "payment_refund", -2_000_000, "2031-04-01T00:00:00.000Z");
  await post(customer, "credit", 5, "2031-04-20T00:00:00.000Z");
  const unused = await openWallet(0);

  const march = await close("2031-03", [customer], "2031-04-02T00:00:00.000Z");
  expect(march).toMatchObject({
    organizations: 1,
    openingMicros: 0,
    closingMicros: 9_992_099,
    liabilityMicros: 9_992_099,
    owedMicros: 0,
    movements: { top_up: 10_000_000, message: -7_901 },
    messages: 2,
    segments: 1,
    revenueMicros: 7_901,
    closedBy: "Ada",
    currency: "USD",
  });
  expect(await findBooks("2031-03", unused)).toBeUndefined();
  expect(await findBooks("2031-03", customer)).toMatchObject({
    countries: [
      expect.objectContaining({ country: "GB", messages: 1, segments: 1, revenueMicros: 7_900 }),
      expect.objectContaining({ country: "none", messages: 1, revenueMicros: 1 }),
    ],
    closedSeq: 3,
  });
  expect(await close("2031-04", [customer], "2031-05-02T00:00:00.000Z")).toMatchObject({
    openingMicros: 9_992_099,
    closingMicros: 7_992_104,
    movements: { payment_refund: -2_000_000, credit: 5 },
    revenueMicros: 0,
  });
});

it("a closed month never changes, and an open one is rejected with the moment", async () => {
  const customer = await openWallet(1_000_000);
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(
    "2031-03 cannot be closed before 2031-04-01T01:10:00.000Z.",
  );
  const closed = await close("2031-03", [customer], "2031-04-01T01:10:00.000Z");
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(
    "2031-03 was closed at 2031-04-01T01:10:00.000Z by Ada.",
  );
  expect(await findBooksTotal("2031-03")).toEqual(closed);
});

it("a close that was interrupted keeps what it wrote, and completes the rest", async () => {
  const customers = [await openWallet(1_000_000), await openWallet(2_000_000), await openWallet(3_000_000)];
  const closed = await close("2031-03", customers, "2031-04-01T02:00:00.000Z");
  const [first = "", second = ""] = customers;
  // The state in which a crash after the first organization leaves the month.
  await deleteItem(keys.books("2031-03", "TOTAL"));
  await deleteItem(keys.books("2031-03", second));
  const kept = await findBooks("2031-03", first);
  await putItem(putUnchecked(keys.books("2031-03", first), { ...kept, feeMicros: 77 }));
  expect(await closeBooks("2031-03", closing)).toEqual({ ...closed, feeMicros: 77 });
  expect(await findBooks("2031-03", second)).toMatchObject({ closingMicros: 2_000_000 });
});

it("entries that are out of order at the end of the month are each in one month", async () => {
  const customer = await openWallet(1_000_000);
  const moments = ["23:59:58.000Z", "23:59:59.500Z"].map((time) => `2031-03-31T${time}`);
  await chargeMessages(customer, { amountMicros: 1, at: "2031-04-01T00:00:02.000Z" });
  for (const moment of moments) await chargeMessages(customer, { amountMicros: 10, at: moment });
  await chargeMessages(customer, { amountMicros: 100, at: "2031-04-01T00:00:03.000Z" });
  await close("2031-03", [customer], "2031-04-01T02:00:00.000Z");
  expect(await findBooks("2031-03", customer)).toMatchObject({
    closingMicros: 999_980,
    closedSeq: 1,
    readSeq: 5,
    movements: { message: -20 },
  });
  await post(customer, "credit", 7);
  await close("2031-04", [customer], "2031-05-01T02:00:00.000Z");
  expect(await findBooks("2031-04", customer)).toMatchObject({
    openingMicros: 999_980,
    closingMicros: 999_886,
    movements: { message: -101, credit: 7 },
    closedSeq: 6,
  });
});

it("a debit that was lost before the end of the month and refunded after it belongs to the later month", async () => {
  const customer = await openWallet(1_000_000);
  at("2031-03-31T23:59:00.000Z");
  await chargeMessages(customer, { amountMicros: 40, at: "2031-03-31T23:59:00.000Z", isLost: true });
  await chargeMessages(customer, { amountMicros: 2, at: "2031-03-31T23:59:30.000Z" });
  await close("2031-03", [customer], "2031-04-01T02:00:00.000Z");
  expect(await findBooks("2031-03", customer)).toMatchObject({ closingMicros: 999_998, closedSeq: 1 });
  await close("2031-04", [customer], "2031-05-01T02:00:00.000Z");
  expect(await findBooks("2031-04", customer)).toMatchObject({
    closingMicros: 999_998,
    movements: { void: -40, refund: 40 },
    messages: 0,
    revenueMicros: 0,
  });
});

it("a wallet that is not settled, or whose ledger does not add up, is named", async () => {
  const customer = await openWallet(1_000_000);
  await chargeMessages(customer, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  at("2031-04-01T02:00:00.000Z");
  const unsettled = `The ledger of ${customer} is not settled.`;
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(unsettled);
  await settle(customer);
  await inAllShards(closeDays);
  const key = keyOfEntry(customer, 2);
  const [, entry] = await ledger(customer);
  const wrong = (seq: number): string => `The ledger of ${customer} does not add up at seq ${seq}.`;
  await deleteItem(key);
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(2));
  await putItem(putUnchecked(key, { ...entry, amountMicros: -39 }));
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(2));
  await putItem(putUnchecked(key, { ...entry, amountMicros: -39, balanceAfterMicros: 999_961 }));
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(3));
  await putItem(putUnchecked(key, { ...entry }));
  expect(await closeBooks("2031-03", closing)).toMatchObject({ closingMicros: 999_960 });
  await putItem(putUnchecked(key, { ...entry, createdAt: "2031-04-01T20:00:00.000Z" }));
  at("2031-05-01T02:00:00.000Z");
  await putItem(
    putUnchecked(keys.books("2031-03", customer), {
      ...(await findBooks("2031-03", customer)),
      closedSeq: 1,
      readSeq: 1,
    }),
  );
  await expect(closeBooks("2031-04", closing)).rejects.toThrow(wrong(2));
});

/** Damages of the last entry but one of a ledger of ten, or of the last one, and the seq at which they show. */
it("a lost entry of the next month, alone in it, is of the next month", async () => {
  const organizationId = await openWallet(1_000_000);
  await chargeMessages(organizationId, { amountMicros: 40, at: "2031-03-12T12:00:00.000Z" });
  at("2031-04-02T12:00:00.000Z");
  const { seq } = await postToWallet({ organizationId, type: "credit", amountMicros: 500_000 }).then(
    async () => readWallet(organizationId),
  );
  at("2031-04-20T00:00:00.000Z");
  await settle(organizationId);
  await inAllShards(closeDays);
  await deleteItem(keyOfEntry(organizationId, seq));
  await closeBooks("2031-03", closing);
  expect((await findBooks("2031-03", organizationId))?.closingMicros).toBe(999_960);
  at("2031-05-20T00:00:00.000Z");
  await inAllShards(closeDays);
  await expect(closeBooks("2031-04", closing)).rejects.toThrow(`at seq ${seq}`);
});

const damages = [
  { name: "a changed amount", seq: 9, change: { amountMicros: -1 }, at: 9 },
  {
    name: "a changed balance of the last entry",
    seq: 10,
    change: { balanceAfterMicros: 7 },
    at: 10,
    also: 11,
  },
  { name: "a missing entry", seq: 9, change: undefined, at: 9 },
  { name: "an unreadable entry", seq: 9, change: { type: "gift" }, at: 9 },
  { name: "a missing last entry", seq: 10, change: undefined, at: 10 },
] as const;

it.each(
  damages.flatMap((damage) =>
    // Damages of March's entries, of those after its end in no order, and of an April that starts in order.
    ["2031-03-31T12:00:00.000Z", "2031-04-01T00:00:01.000Z", "2031-04-15T12:00:00.000Z"].map((last) => ({
      ...damage,
      last,
    })),
  ),
)(
  "$name at $last stops its customer only, and is a movement of its own once it is accepted",
  async ({ seq, change, at: place, last, ...others }) => {
    const [bad, good] = [await openWallet(1_000_000), await openWallet(2_000_000)];
    for (let count = 2; count <= 10; count += 1) {
      // One entry of March comes after one of April.
      const moment = count === 8 ? "2031-03-31T23:59:59.000Z" : count < 7 ? "2031-03-30T12:00:00.000Z" : last;
      await chargeMessages(bad, { amountMicros: 10 * count, at: moment });
    }
    at("2031-04-20T00:00:00.000Z");
    for (const each of [bad, good]) await settle(each);
    await inAllShards(closeDays);
    const entry = (await ledger(bad)).find((each) => each.seq === seq);
    await deleteItem(keyOfEntry(bad, seq));
    if (change !== undefined) await putItem(putUnchecked(keyOfEntry(bad, seq), { ...entry, ...change }));

    const places = [place, ...Object.values(others)];
    const accepted = new Set(places.map((each) => `${bad}:${each}`));
    const months: [string, string][] = [
      ["2031-03", "2031-04-20T00:00:00.000Z"],
      ["2031-04", "2031-05-20T00:00:00.000Z"],
      ["2031-05", "2031-06-20T00:00:00.000Z"],
    ];
    let unexplained = 0;
    for (const [month, moment] of months) {
      at(moment);
      await settle(bad);
      await inAllShards(closeDays);
      const isDamaged = last.slice(0, "yyyy-mm".length) === month;
      const refusal = isDamaged ? await closeBooks(month, closing).then(() => "closed", String) : "";
      const problem = `${month} is closed for 1 customers, and not for 1: The ledger of ${bad} does not add up at seq ${place}.`;
      expect(refusal).toContain(isDamaged ? problem : "");
      expect((await findBooks(month, good))?.closingMicros).toBe(isDamaged ? 2_000_000 : undefined);
      expect(await findBooksTotal(month)).toBeUndefined();
      const total = await closeBooks(
        month,
        isDamaged ? { ...closing, accepted, reason: "Ticket 1" } : closing,
      );
      expect(total.movements["unexplained"] !== undefined).toBe(isDamaged);
      unexplained += total.movements["unexplained"] ?? 0;
      expect((await findBooks(month, bad))?.unexplainedReason).toBe(isDamaged ? "Ticket 1" : undefined);
      await post(bad, "credit", 3);
    }
    const { balanceMicros } = await readWallet(bad);
    const closed = await findBooks("2031-05", bad);
    // The last month closed before its own credit.
    expect(closed?.closingMicros).toBe(balanceMicros - 3);
    const kept = (await ledger(bad)).reduce((sum, { amountMicros }) => sum + amountMicros, 0);
    expect(unexplained).toBe(balanceMicros - kept);
  },
);

it("a chargeback below zero is owed by the customer, and is not subtracted from the liability", async () => {
  const debtor = await openWallet(5_000_000);
  const creditor = await openWallet(3_000_000);
  await post(debtor, "chargeback", -12_000_000);
  expect(await close("2031-03", [debtor, creditor], "2031-04-01T02:00:00.000Z")).toMatchObject({
    closingMicros: -4_000_000,
    liabilityMicros: 3_000_000,
    owedMicros: 7_000_000,
  });
});

it("costs that become known after the close are in the next books", async () => {
  const customer = await openWallet(1_000_000);
  const shard = dayShardOf(customer, "2031-03-11");
  const ofDay = (costMicros: number) => [
    {
      country: "GB",
      carrier: "aws",
      messages: 1,
      segments: 1,
      revenueMicros: 10,
      costMicros,
      messagesWithoutCost: 1,
    },
  ];
  await writeMargins(shard, ofDay(400), false);
  expect(await close("2031-03", [customer], "2031-04-01T02:00:00.000Z")).toMatchObject({
    costMicros: 400,
    messagesWithoutCost: 1,
    openDays: 1,
  });
  const ofGermany = ofDay(30).map((each) => ({ ...each, country: "DE" }));
  await writeMargins(shard, [...ofDay(450), ...ofGermany], true);
  await writeMargins(dayShardOf(customer, "2031-04-11", 3), ofDay(7), true);
  expect(await close("2031-04", [customer], "2031-05-01T02:00:00.000Z")).toMatchObject({
    costMicros: 87,
    messagesWithoutCost: 2,
    openDays: 0,
  });
  expect((await findBooks("2031-04", customer))?.countries).toEqual([
    expect.objectContaining({ country: "DE", costMicros: 30, revenueMicros: 0 }),
    expect.objectContaining({ country: "GB", costMicros: 57, messagesWithoutCost: 1 }),
  ]);
});

it("a month whose last day is not counted yet waits for it", async () => {
  const customer = await openWallet(1_000_000);
  await chargeMessages(customer, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  at("2031-04-01T02:00:00.000Z");
  await settle(customer);
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(
    new RegExp(
      `The costs of ${customer} on 2031-03-(10|31) are not calculated yet. Repeat the command in an hour.$`,
    ),
  );
});

const marginsKey = (organizationId: string): Key => dayShardOf(organizationId, "2031-03-31").margins;

it.each([
  ["whose wallet is missing", keys.wallet, undefined, ": The organization has no wallet."],
  ["with a day that is not counted", marginsKey, undefined, " on 2031-03-31 are not calculated yet."],
  ["with unreadable costs", marginsKey, { entity: "margins" }, " cannot be read."],
])("an organization %s is named, and all others are closed", async (_, keyOf, item, problem) => {
  const [bad, good] = [await openWallet(1_000_000), await openWallet(2_000_000)];
  for (const each of [bad, good])
    await chargeMessages(each, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  at("2031-04-01T02:00:00.000Z");
  for (const each of [bad, good]) await settle(each);
  // The messages of the bad one are counted later, as far as the pending work shows.
  const { counter } = dayShardOf(bad, "2031-03-31");
  const pending = { pendingWork: pendingWorkOf("CLOSE-DAY", bad), visitAt: "2031-04-01T01:00:00.000Z" };
  await inAllShards(closeDays);
  await updateItem(z.unknown(), updateOf(counter, { set: pending }));
  await deleteItem(keyOf(bad));
  if (item !== undefined) await putItem(putOf(keyOf(bad), item));
  const failed = await closeBooks("2031-03", closing).then(() => "closed", String);
  expect(failed).toContain("2031-03 is closed for 1 customers, and not for 1: ");
  expect(failed).toContain(bad);
  expect(failed).toContain(problem);
  expect((await findBooks("2031-03", good))?.closingMicros).toBe(1_999_960);
});

it("a busy table ends the close, and is not a problem of one organization", async () => {
  await openWallet(1_000_000);
  at("2031-04-01T02:00:00.000Z");
  interceptTableRequests(async (command, send) => {
    if (JSON.stringify(command).includes('"BOOKS#2031-03","sk":"org_')) throw new ApiError("UNAVAILABLE");
    return send();
  });
  await expect(closeBooks("2031-03", closing)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  vi.restoreAllMocks();
});

it.each([1, 2, 3, 4])(
  "the books of any movements add up to the ledger to the micro-unit (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const customers = [await openWallet(50_000_000), await openWallet(900_000), await openWallet(0)];
    const months = ["2031-03", "2031-04", "2031-05"];
    const boundaries = ["2031-04-01", "2031-05-01", "2031-06-01"].map((day) =>
      Date.parse(`${day}T00:00:00Z`),
    );
    for (const [index, end] of boundaries.entries()) {
      for (let step = 0; step < 60; step += 1) {
        const customer = oneOf(random, customers);
        // Most are close to the end of the month, on both sides.
        const moment = end + between(random, -60_000, 60_000) - (random() < 0.2 ? 86_400_000 * 9 : 0);
        at(new Date(end + (step - 30) * 2_000).toISOString());
        const amountMicros = between(random, 1, 900_001);
        if (random() < 0.7) {
          const charge = {
            amountMicros,
            segments: between(random, 1, 3),
            at: new Date(moment).toISOString(),
            isLost: random() < 0.1,
            ...oneOf(random, [{ country: "GB" }, { country: "US" }, {}]),
          };
          await chargeMessages(customer, charge).catch(() => undefined);
        } else {
          const type = oneOf(random, ["payment", "credit", "payment_refund", "chargeback"] as const);
          const sign = type === "payment" || type === "credit" ? 3 : -1;
          await post(customer, type, sign * amountMicros).catch(() => undefined);
        }
      }
      await close(months[index] ?? "", customers, new Date(end + 86_400_000).toISOString());
    }

    const inBooks = new Map<string, number>();
    for (const month of months) {
      let [liability, count] = [0, 0];
      for await (const books of readBooks(month)) {
        if (books.entity !== "books") continue;
        count += 1;
        liability += Math.max(books.closingMicros, 0);
        for (const [type, micros] of Object.entries(books.movements)) {
          const name = `${books.organizationId} ${type}`;
          inBooks.set(name, (inBooks.get(name) ?? 0) + micros);
        }
        const { message = 0, refund = 0, void: voided = 0 } = books.movements;
        expect(books.revenueMicros).toBe(0 - message - refund - voided);
      }
      expect(count).toBeGreaterThan(1);
      expect(await findBooksTotal(month)).toMatchObject({ liabilityMicros: liability, organizations: count });
    }
    const inLedger = new Map<string, number>();
    const lastMonths = new Map<string, number>();
    for (const customer of customers) {
      for (const { type, amountMicros, createdAt } of await ledger(customer)) {
        // Repairs of the last month are made after it.
        const isAfter = createdAt >= "2031-06-01";
        const sums = isAfter ? lastMonths : inLedger;
        const name = isAfter ? customer : `${customer} ${type}`;
        sums.set(name, (sums.get(name) ?? 0) + amountMicros);
      }
      const closed = await findBooks("2031-05", customer);
      const { balanceMicros } = await readWallet(customer);
      expect((closed?.closingMicros ?? 0) + (lastMonths.get(customer) ?? 0)).toBe(balanceMicros);
    }
    expect(inBooks).toEqual(inLedger);
  },
);
