import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import { priceChanges, textOfChanges } from "../../infra/operator/price-changes.ts";
import { parseRates, type Problem, type Rates } from "../../infra/operator/rates-file.ts";

const ofCard = { required: ["prefix", "country", "price"], hasCosts: true } as const;

function parse(text: string): Rates {
  return parseRates(Buffer.from(text), ofCard);
}

/** Problems as one reads them. */
function texts(problems: readonly Problem[]): string[] {
  return problems.map(({ line, column, problem }) => `${line} ${column}: ${problem}`);
}

it("understands rows with all that they may have", () => {
  const text = [
    "prefix,country,price,valid_from,cost:aws,cost:kannel",
    "44,GB,0.046,,0.031,0.0305",
    "44,GB,0.05,2031-04-01,0.031,",
    "383,XK,0.1,2031-04-01T09:30:00+02:00,,",
    "870,,12.5,,,",
    "1,,0,,,",
  ].join("\n");
  expect(parse(text)).toEqual({
    rows: [
      { prefix: "44", country: "GB", priceMicros: 46_000, costMicros: { aws: 31_000, kannel: 30_500 } },
      {
        prefix: "44",
        country: "GB",
        priceMicros: 50_000,
        validFrom: "2031-04-01T00:00:00.000Z",
        costMicros: { aws: 31_000 },
      },
      {
        prefix: "383",
        country: "XK",
        priceMicros: 100_000,
        validFrom: "2031-04-01T07:30:00.000Z",
        costMicros: {},
      },
      { prefix: "870", priceMicros: 12_500_000, costMicros: {} },
      { prefix: "1", priceMicros: 0, costMicros: {} },
    ],
    errors: [],
  });
});

it.each([
  ["a mark of the byte order", "\uFEFFprefix,country,price\n44,GB,0.046\n"],
  ["lines that end as on Windows", "prefix,country,price\r\n44,GB,0.046\r\n"],
  ["lines that end in both ways", "prefix,country,price\r\n44,GB,0.046\n\r\n"],
  ["cells in quotes", '"prefix","country","price"\n"44","GB","0.046"\n'],
  ["columns in another order, with spaces and empty lines", "price, country ,prefix\n\n 0.046,GB , 44\n,,\n"],
])("takes files with %s", (_what, text) => {
  expect(parse(text)).toEqual({
    rows: [{ prefix: "44", country: "GB", priceMicros: 46_000, costMicros: {} }],
    errors: [],
  });
});

const heading = "prefix,country,price,valid_from,cost:aws\n";

it.each([
  ["", ["1 : the file is empty"]],
  [heading, ["1 : there is no row after the heading"]],
  ["prefix;country;price\n44;GB;0,046", ["1 : the columns are separated by semicolons: save it with commas"]],
  ["prefix\tcountry\tprice\n44\tGB\t0.046", ["1 : the columns are separated by tabs: save it with commas"]],
  ["prefix,price\n44,1", ["1 country: the column is missing"]],
  [
    "prefix,country,price,cost\n44,GB,1,1",
    [
      "1 cost: unknown column; the columns are prefix, country, price, valid_from, verification_fee, cost:CARRIER",
    ],
  ],
  ["prefix,country,price,prefix\n", ["1 prefix: the column occurs twice"]],
  [
    "prefix,country,price,cost:My Carrier\n",
    ["1 cost:My Carrier: cost: must be followed by the name of a carrier"],
  ],
  [`${heading}44,GB,1,,\n49,DE,1,`, ["3 : has 4 cells, but the heading has 5"]],
  [
    `${heading}+44,GB,1,,`,
    ['2 prefix: "+44" must be 1 to 15 digits, country code first, without a plus sign'],
  ],
  [`${heading},GB,1,,`, ["2 prefix: it must be 1 to 15 digits, country code first, without a plus sign"]],
  [
    `${heading}044,GB,1,,`,
    ['2 prefix: "044" must be 1 to 15 digits, country code first, without a plus sign'],
  ],
  [
    `${heading}1234567890123456,GB,1,,`,
    ['2 prefix: "1234567890123456" must be 1 to 15 digits, country code first, without a plus sign'],
  ],
  [
    `${heading}44,UK,1,,`,
    ['2 country: "UK" must be an ISO 3166-1 code in capital letters, such as GB, or empty'],
  ],
  [`${heading}44,DE,1,,\n247,SH,1,,\n99,,1,,`, ["2 country: DE has the country code 49, not 44"]],
  [`${heading}44,GB,,,`, ["2 price: is missing"]],
  [`${heading}44,GB,-1,,`, ['2 price: "-1" must not be negative']],
  [`${heading}44,GB,0.0000001,,`, ['2 price: "0.0000001" has more than 6 decimals']],
  [`${heading}44,GB,1000.01,,`, ['2 price: "1000.01" is more than 1000']],
  [
    `${heading}44,GB,"0,046",,`,
    ['2 price: "0,046" must be an amount such as 0.0075, with a point and without a sign'],
  ],
  [`${heading}44,GB,1,,-1`, ['2 cost:aws: "-1" must not be negative']],
  [
    `${heading}44,GB,1,01/04/2031,`,
    [
      '2 valid_from: "01/04/2031" must be a date such as 2026-04-01, or a date-time with a time zone, or empty',
    ],
  ],
  [
    `${heading}44,GB,1,2031-02-29,`,
    [
      '2 valid_from: "2031-02-29" must be a date such as 2026-04-01, or a date-time with a time zone, or empty',
    ],
  ],
  [
    `${heading}44,GB,1,2031-04-01,\n49,DE,1,,\n44,GB,2,2031-04-01T00:00:00Z,`,
    ['4 prefix: "44" is already in line 2, for the same time'],
  ],
  [
    `${heading}x,UK,-1,soon,y`,
    [
      '2 prefix: "x" must be 1 to 15 digits, country code first, without a plus sign',
      '2 country: "UK" must be an ISO 3166-1 code in capital letters, such as GB, or empty',
      '2 valid_from: "soon" must be a date such as 2026-04-01, or a date-time with a time zone, or empty',
      '2 price: "-1" must not be negative',
      '2 cost:aws: "y" must be an amount such as 0.0075, with a point and without a sign',
    ],
  ],
  [
    `${heading}44,GB,1,,\n49,"DE,1,,\n`,
    ["3 : invalid quotes: quote the whole cell, and double each quote inside it"],
  ],
])("reports the problem of %j and its place", (text, problems) => {
  expect(texts(parse(text).errors)).toEqual(problems);
});

it("reports the problem of every invalid line of a long file, with its number", () => {
  const lines = Array.from(
    { length: 1_000 },
    (_, index) => `${1_000 + index},US,${index % 2 === 0 ? "1" : "x"},,`,
  );
  const { rows, errors } = parse(`${heading}${lines.join("\r\n")}`);
  expect(rows).toHaveLength(500);
  expect(errors.map(({ line }) => line)).toEqual(Array.from({ length: 500 }, (_, index) => 3 + 2 * index));
});

it("rejects text that is not UTF-8", () => {
  expect(texts(parseRates(Buffer.from("\uFEFFprefix", "utf16le"), ofCard).errors)).toEqual([
    "1 : the file is in UTF-16: save it as CSV UTF-8",
  ]);
  const latin = Buffer.from("prefix,country,price\n44,GB,1 \u00A3", "latin1");
  expect(texts(parseRates(latin, ofCard).errors)).toEqual([
    "2 : the file is not in UTF-8: save it as CSV UTF-8",
  ]);
});

it("reads the fee of verifications, which no carrier has", () => {
  const text = Buffer.from("prefix,price,verification_fee\n44,1,0.05\n1,1,");
  const { rows } = parseRates(text, { required: ["prefix", "price"], hasCosts: false });
  expect(rows.map(({ costMicros }) => costMicros)).toEqual([{ "verification fee": 50_000 }, {}]);
});

it("rejects a cost column in a card without costs", () => {
  const text = Buffer.from("prefix,price,cost:aws\n44,1,1");
  expect(texts(parseRates(text, { required: ["prefix", "price"], hasCosts: false }).errors)).toEqual([
    "1 cost:aws: unknown column; the columns are prefix, country, price, valid_from, verification_fee",
  ]);
});

it("understands the example that is beside the README", async () => {
  const { rows, errors } = parseRates(await readFile("shared/money/prices/example.csv"), ofCard);
  expect(errors).toEqual([]);
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.some(({ validFrom }) => validFrom !== undefined)).toBe(true);
});

it("shows changes with old and new values, and counts those that it does not show", () => {
  const before = parse(`${heading}44,GB,0.046,,0.03\n49,DE,0.089,,\n33,FR,0.076,,`).rows;
  const many = Array.from({ length: 12 }, (_, index) => `${90 + index},,1,,`).join("\n");
  const after = parse(`${heading}44,GB,0.05,,0.031\n49,DE,0.089,,\n${many}`).rows;
  const changes = priceChanges(before, after);
  expect(changes).toMatchObject({ removed: [{ prefix: "33" }], unchanged: 1 });
  const lines = textOfChanges(changes).split("\n");
  expect(lines[0]).toBe("12 added, 1 removed, 1 changed, 1 unchanged");
  expect(lines[1]).toBe("  + 90: no country, 1");
  expect(lines[11]).toBe("  and 2 more");
  expect(lines[12]).toBe("  - 33: FR, 0.076");
  expect(lines[13]).toBe("  ~ 44: GB, 0.046, aws 0.03  ->  GB, 0.05, aws 0.031");
  expect(lines).toHaveLength(14);
});
