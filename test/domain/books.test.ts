import { beforeEach, expect, it } from "vitest";

import { findBooks, findBooksTotal, readBooks } from "../../shared/figures/books/record.ts";
import { noFigures, writeFigures, noMessages } from "../../shared/messages/counts/figures.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { between, oneOf, randomFrom } from "../chaos/random.ts";
import { chargeMessages, at, close, closeBooks, closing, ledger, post } from "../support/books.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { isNightly } from "../support/second-opinions.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(async () => {
  at("2031-03-10T12:00:00.000Z");
  await useOwnTable();
});

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
  const one = { ...noMessages, messages: 1, segments: 1, revenueMicros: 10, messagesWithoutCost: 1 };
  const ofDay = (costMicros: number) => [{ country: "GB", carrier: "aws", ...one, costMicros }];
  await writeFigures(shard, { ...noFigures, margins: ofDay(400) }, false);
  expect(await close("2031-03", [customer], "2031-04-01T02:00:00.000Z")).toMatchObject({
    costMicros: 400,
    messagesWithoutCost: 1,
    openDays: 1,
  });
  const ofGermany = ofDay(30).map((each) => ({ ...each, country: "DE" }));
  await writeFigures(shard, { ...noFigures, margins: [...ofDay(450), ...ofGermany] }, true);
  await writeFigures(dayShardOf(customer, "2031-04-11", 3), { ...noFigures, margins: ofDay(7) }, true);
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

it.each(isNightly ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])(
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
