import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { writeXlsx } from "hucre";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { CostsOfRows, readCostList, type CostList } from "../../infra/operator/cost-list.ts";
import { withCosts } from "../../infra/operator/import-costs.ts";
import type { PriceRow } from "../../shared/money/prices/rate-card.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "costs-"));
});
afterAll(async () => rm(folder, { recursive: true }));

/** Reads a list in the stage's currency, or at a rate. */
async function read(content: Uint8Array | string, rate?: number) {
  const file = path.join(folder, "list");
  await writeFile(file, content);
  return readCostList(file, { rate, currency: "EUR" });
}

async function listIn(content: Uint8Array | string): Promise<CostList> {
  const list = await read(content);
  if ("errors" in list) throw new Error(JSON.stringify(list.errors));
  return list;
}

async function errorsIn(content: Uint8Array | string): Promise<string[]> {
  const list = await read(content);
  return "errors" in list ? list.errors.map(({ line, problem }) => `${line}: ${problem}`) : [];
}

const at = new Date("2026-11-30T00:00:00.000Z");
const germany: PriceRow = { prefix: "49", country: "DE", priceMicros: 90_000, costMicros: { other: 1 } };

/** Returns the cost of Germany's row by a list, now. */
async function costOf(content: Uint8Array | string): Promise<number | undefined> {
  return new CostsOfRows(await listIn(content), ["49"]).costOf(germany, at.toISOString());
}

it("reads a workbook of Excel with days", async () => {
  const rows = [
    ["MCC", "MNC", "Price", "Effective date"],
    [262, 2, 0.0125, new Date("2026-01-01")],
  ];
  expect(await costOf(await writeXlsx({ sheets: [{ name: "A-Z", rows }] }))).toBe(12_500);
});

it.each([
  ["1,50", "01/02/2026", '"01/02/2026" can be two days: write it as in 2026-04-01'],
  ["1.234,50", "2026-02-01", '"1.234,50" is more than 1000'],
  ["173,900,000", "2026-02-01", '"173,900,000" is more than 1000'],
  ["1234", "2026-02-01", '"1234" is more than 1000'],
  ["0,5", "2026-02-31", '"2026-02-31" is no day or time'],
  ["on request", "2026-02-01", '"on request" must be an amount such as 0.0075'],
])("rejects %s from %s with its line", async (price, from, problem) => {
  expect(await errorsIn(`Country;Price;Effective\n\nDE;${price};${from}\n`)).toEqual([`3: ${problem}`]);
});

it.each([
  ["Country,Price\nDE,0\n", '2: "0" is no cost: leave out the line, or check its decimal comma'],
  ["Country,Price\nDE,0,0375\n", "2: has more cells than the 2 headings: quote amounts with a decimal comma"],
  ["Country;Price\nDE;1,234\n", '2: "1,234" can be two amounts: write it with a point and other decimals'],
  ["Country,Price\nDE,£0.03\n", "1: the amounts are in GBP, and"],
  ["Country,Price\nDE,0.03 USD\n", "1: the amounts are in USD, and"],
  [
    "Country,Price,Currency\nDE,1,USD\nFR,1,EUR\n",
    "1: the amounts are in USD and EUR: divide the file by currency",
  ],
  ["Country,MCC,MNC,Price\nDE,262,x7,1\n", '2: "x7" is no MNC'],
  ["Country,Price,Valid to\nDE,1,2025-12-31\n", "2: an end of a cost cannot be imported"],
])("rejects %j as well", async (content, problem) => {
  const [first, ...others] = await errorsIn(content);
  expect(others).toEqual([]);
  expect(first).toContain(problem);
});

it.each([
  ["234,15", "GB"],
  ["310,260", "US"],
  ["505,01", "AU"],
  ["425,01", "IL"],
])("reads the country of the network %s from its codes", async (codes, country) => {
  const list = await listIn(`MCC,MNC,Price\n${codes},0.03\n`);
  expect([...list.ofCountries.keys()]).toEqual([country]);
});

it.each([
  ['Germany,262,"02, 03",0.03', ["26202", "26203"]],
  ["Germany,262,2.0,0.03", ["26202"]],
  ["Germany,262,all,0.03", [""]],
])("reads the networks of %s", async (row, networks) => {
  const list = await listIn(`Country,MCC,MNC,Price\n${row}\n`);
  expect([...(list.ofCountries.get("DE")?.keys() ?? [])]).toEqual(networks);
});

it("decides by the other amounts of the file what a mark means", async () => {
  const list = await listIn("Country;Price\nDE;1,234\nFR;0,05\n");
  expect(list.ofCountries.get("DE")?.get("")?.[0]?.micros).toBe(1_234_000);
});

it("decides by the other days of the file whether months are first", async () => {
  const list = await listIn("Country;Price;From\nDE;1;01/02/2026\nFR;1;01/31/2026\n");
  expect(list.ofCountries.get("DE")?.get("")).toEqual([
    { from: "2026-01-02T00:00:00.000Z", micros: 1_000_000 },
  ]);
});

it.each([
  ["Country,Price\nAtlantis,1\n", '2: "Atlantis" is no country, and no country has the MCC it'],
  ["Country,Price,Cost\nDE,1,2\n", '1: "Price" and "Cost" are the same column: keep the right one'],
  ["Country,Price\nDE,1\nDE,2\n", "3: the same destination has another cost for the same time"],
  ["Country,Price USD\nDE,1\n", "1: the amounts are in USD, and the stage's currency is EUR: state --rate"],
  ["Country,Price\n", "1: there is no row after the headings"],
  [
    "Land,Preis\nDE,1\n",
    '1: no row has headings such as Price, with Prefix, Country, or MCC and MNC; the first one is "Land, Preis"',
  ],
])("rejects %j", async (content, problem) => {
  expect(await errorsIn(content)).toEqual([problem]);
});

it("converts another currency, rounded up", async () => {
  const list = await read("Country,Price USD\nDE,0.0125\n", 0.9234);
  expect("errors" in list ? [] : list.ofCountries.get("DE")?.get("")).toEqual([{ from: "", micros: 11_543 }]);
});

describe("the cost of a row", () => {
  const costs = async (content: string, prefixes: readonly string[]) =>
    new CostsOfRows(await listIn(content), prefixes);

  it("is the highest of the list's prefixes in it", async () => {
    const list = await costs("prefix,price\n44,0.03\n447,0.02\n4478,0.05\n", ["44", "4478"]);
    const of = (prefix: string) => list.costOf({ prefix, country: "GB" }, at.toISOString());
    expect([of("44"), of("4478"), of("47")]).toEqual([30_000, 50_000, undefined]);
  });

  it("is the mean of the networks by their published prefixes, without networks that have none", async () => {
    // In networks.txt, 26202 has seven prefixes of six digits and four of five, and 26203 one and two; 26210 has none.
    const list = await costs("MCC,MNC,Price\n262,02,0.01\n262,03,0.04\n262,10,9\n", ["49"]);
    const expected = (4.7 * 10_000 + 2.1 * 40_000) / 6.8;
    expect(list.costOf(germany, at.toISOString())).toBe(Math.ceil(expected));
  });

  it("counts several codes of the same network once, and one network in a row of its prefix", async () => {
    // 50501, 50571 and 50572 are the same network, whose prefixes are published.
    const one = await costs("MCC,MNC,Price\n505,01,0.05\n505,02,0.03\n", ["61"]);
    const more = await costs("MCC,MNC,Price\n505,01,0.05\n505,71,0.05\n505,72,0.05\n505,02,0.03\n", ["61"]);
    const australia = { prefix: "61", country: "AU" };
    expect(more.costOf(australia, at.toISOString())).toBe(one.costOf(australia, at.toISOString()));
    const rows = await costs("MCC,MNC,Price\n262,02,0.01\n262,03,0.04\n262,10,9\n", ["4915201", "4930"]);
    const of = (prefix: string) => rows.costOf({ prefix, country: "DE" }, at.toISOString());
    expect(of("4915201")).toBe(10_000);
    expect(of("4930")).toBe(Math.ceil((4.7 * 10_000 + 2.1 * 40_000) / 6.8));
  });

  it("is calculated for 200,000 prefixes in a row", async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `1${200_000 + index},0.0${(index % 9) + 1}`);
    const list = await costs(`prefix,price\n${lines.join("\n")}\n`, ["1"]);
    expect(list.costOf({ prefix: "1" }, at.toISOString())).toBe(90_000);
  });

  it("is the plain mean where no network of the country has prefixes", async () => {
    const list = await costs("MCC,MNC,Country,Price\n201,05,US,0.0125\n201,13,US,0.0206\n", ["1"]);
    expect(list.costOf({ prefix: "1" }, at.toISOString())).toBe(16_550);
  });
});

it("changes only this carrier's costs, and gives a later cost a row of its own", async () => {
  const list = await listIn(
    "Country;Price;From\nDE;0,02;2026-01-01\nDE;0,03;2027-01-01\nDE;0,04;2027-06-01\nFR;0,05;2027-03-01\n",
  );
  const later = { ...germany, priceMicros: 95_000, validFrom: "2027-03-01T00:00:00.000Z" };
  const france: PriceRow = { prefix: "33", country: "FR", priceMicros: 80_000, costMicros: { acme: 7 } };
  const spain: PriceRow = { prefix: "34", country: "ES", priceMicros: 80_000, costMicros: { acme: 8 } };
  const { rows, unchanged } = withCosts([germany, later, france, spain], { carrier: "acme", list, at });
  expect(
    rows.map(({ prefix, priceMicros, validFrom = "", costMicros }) =>
      [prefix, validFrom.slice(0, 10), priceMicros, costMicros["acme"], costMicros["other"]].join(" ").trim(),
    ),
  ).toEqual([
    "49  90000 20000 1",
    "49 2027-03-01 95000 30000 1",
    "49 2027-01-01 90000 30000 1",
    "49 2027-06-01 95000 40000 1",
    "33  80000 7",
    "33 2027-03-01 80000 50000",
    "34  80000 8",
  ]);
  expect(unchanged).toEqual(["34"]);
});
