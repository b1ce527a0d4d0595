import { expect, it } from "vitest";

import { rowsOfPrefix, withOverrides } from "../../shared/money/prices/list.ts";
import { documentOf, RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { sampleCard } from "../../shared/money/prices/sample-card.ts";

const at = new Date("2031-03-01T12:00:00Z");

function card(...rows: readonly (Partial<PriceRow> & Pick<PriceRow, "prefix" | "priceMicros">)[]): RateCard {
  return new RateCard(documentOf(rows.map((row) => ({ costMicros: {}, ...row }))));
}

function priceOf(of: RateCard, number: string, moment = at): number | undefined {
  return of.rowFor(number, moment)?.priceMicros;
}

it("has a sample for every number, by the longest prefix", () => {
  expect(priceOf(sampleCard, "15005550000")).toBe(7_900);
  expect(priceOf(sampleCard, "447700900123")).toBe(46_000);
  expect(priceOf(sampleCard, "2348012345678")).toBe(14_500);
  expect(priceOf(sampleCard, "2548012345678")).toBe(50_000);
  expect(priceOf(sampleCard, "992912345678")).toBe(50_000);
});

it("lets the longest prefix count, and has no price where none fits", () => {
  const prices = card(
    { prefix: "44", priceMicros: 1 },
    { prefix: "4477", priceMicros: 2 },
    { prefix: "447700900123", priceMicros: 3 },
  );
  expect(priceOf(prices, "442012345678")).toBe(1);
  expect(priceOf(prices, "447812345678")).toBe(1);
  expect(priceOf(prices, "447701345678")).toBe(2);
  expect(priceOf(prices, "447700900123")).toBe(3);
  expect(priceOf(prices, "447700900124")).toBe(2);
  expect(priceOf(prices, "4")).toBeUndefined();
  expect(priceOf(prices, "15005550000")).toBeUndefined();
  expect(priceOf(new RateCard(""), "15005550000")).toBeUndefined();
});

it("lets a row count from its time on, to the millisecond, and a shorter prefix before it", () => {
  const prices = card(
    { prefix: "44", priceMicros: 30, validFrom: "2031-06-01T00:00:00.000Z" },
    { prefix: "44", priceMicros: 10 },
    { prefix: "44", priceMicros: 20, validFrom: "2031-03-01T00:00:00.000Z" },
    { prefix: "4477", priceMicros: 5, validFrom: "2031-06-01T00:00:00.000Z" },
  );
  const moments = {
    "2031-02-28T23:59:59.999Z": 10,
    "2031-03-01T00:00:00.000Z": 20,
    "2031-05-31T23:59:59.999Z": 20,
    "2031-06-01T00:00:00.000Z": 5,
  };
  for (const [moment, price] of Object.entries(moments)) {
    expect(priceOf(prices, "447700900123", new Date(moment)), moment).toBe(price);
  }
  expect(prices.rowsAt(at).map(({ prefix, priceMicros }) => [prefix, priceMicros])).toEqual([["44", 20]]);
});

it("keeps all fields of each row, and nothing for a carrier without a cost", () => {
  const rows: PriceRow[] = [
    { prefix: "1", priceMicros: 0, costMicros: { aws: 0 } },
    { prefix: "44", country: "GB", priceMicros: 46_000, costMicros: { aws: 31_000, kannel: 30_500 } },
    {
      prefix: "44",
      country: "GB",
      priceMicros: 47_000,
      validFrom: "2031-03-01T00:00:00.000Z",
      costMicros: { kannel: 1 },
    },
    { prefix: "870", priceMicros: 1_000_000_000, costMicros: {} },
  ];
  expect(new RateCard(documentOf(rows.toReversed())).rows()).toEqual(rows);
  // A stored card reads back unchanged.
  expect(documentOf(new RateCard(documentOf(rows)).rows())).toBe(documentOf(rows));
});

it("finds a price among a hundred thousand as it does among a few", () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => ({
    prefix: String(100_000 + index),
    priceMicros: index,
    costMicros: { aws: index },
  }));
  const prices = new RateCard(documentOf(rows));
  for (const index of [0, 1, 49_999, 99_999]) {
    expect(prices.rowFor(`${100_000 + index}1234567`, at)).toEqual(rows[index]);
  }
  expect(prices.rowsAt(at)).toHaveLength(100_000);
});

it("shows an organization's own prices in place of longer prefixes too, and beside the card", () => {
  const prices = card(
    { prefix: "44", country: "GB", priceMicros: 1 },
    { prefix: "4477", country: "GB", priceMicros: 2 },
    { prefix: "49", country: "DE", priceMicros: 3 },
  );
  const own = card({ prefix: "447", priceMicros: 10 }, { prefix: "33", priceMicros: 11 });
  expect(
    withOverrides(prices, own, at).map(({ prefix, country, priceMicros }) => [prefix, country, priceMicros]),
  ).toEqual([
    ["33", undefined, 11],
    ["44", "GB", 1],
    ["447", "GB", 10],
    ["4477", "GB", 10],
    ["49", "DE", 3],
  ]);
});

it.each([
  ["44", ["44", "4477", "4478"]],
  ["447", ["44", "4477", "4478"]],
  ["4477", ["4477"]],
  ["447700900123", ["4477"]],
  ["5", []],
])("finds the rows for numbers that begin with %s", (prefix, found) => {
  const rows = card(
    ...["33", "44", "4477", "4478", "49"].map((each) => ({ prefix: each, priceMicros: 1 })),
  ).rowsAt(at);
  expect(rowsOfPrefix(rows, prefix).map((row) => row.prefix)).toEqual(found);
});
