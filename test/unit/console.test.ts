import { describe, expect, it } from "vitest";

import { estimateAudience } from "../../functions/console/app/audience.ts";
import { scaleTop } from "../../functions/console/app/chart-scale.ts";
import { attributeNames } from "../../functions/console/app/column-names.ts";
import {
  batchesOf,
  guessTargets,
  failedRowsOf,
  rowsOf,
  sample,
} from "../../functions/console/app/import-rows.ts";
import { problemOfField } from "../../functions/console/app/problems.ts";
import { parseCsv, textOf } from "../../functions/console/app/read-table.ts";
import { tagsOf } from "../../functions/console/app/typed.ts";
import type { Contact } from "../../shared/api/contract/contacts.ts";
import { csvOf } from "../../shared/figures/exports/csv.ts";

describe("CSV", () => {
  it.each([
    [
      "a,b\r\nc,d\r\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      "a;b;c\nd;e,f;g",
      [
        ["a", "b", "c"],
        ["d", "e,f", "g"],
      ],
    ],
    [
      "a\tb\rc\td",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      '\uFEFFa,b\n"c,1","d ""e""\nf"',
      [
        ["a", "b"],
        ["c,1", 'd "e"\nf'],
      ],
    ],
    ["a,b\n\n , \nc,", [["a", "b"], [], [], ["c", ""]]],
    [
      'a,b\n5" tube,x',
      [
        ["a", "b"],
        ['5" tube', "x"],
      ],
    ],
    ["", []],
  ])("from spreadsheets is parsed: %j", (text, expected) => {
    expect(parseCsv(text)).toEqual(expected);
  });

  it("is rejected when a quoted value is not closed", () => {
    expect(() => parseCsv('a,b\n"c,d\ne,f')).toThrow("Quote Not Closed");
  });

  it("is parsed to the same rows that were written, and contains no formula", () => {
    const rows = [
      ["a", 'say "hi"', "x,y"],
      ["line\nbreak", "-0.0079", "5"],
    ];
    expect(parseCsv(csvOf(rows))).toEqual(rows);
    expect(csvOf([["=1+1", "@a", "+49", "-x", "-1e-7"]])).toBe("'=1+1,'@a,'+49,'-x,-1e-7\r\n");
  });

  it("is decoded as UTF-8 or Windows-1252", async () => {
    expect(await textOf(new Blob(["Łódź"]))).toBe("Łódź");
    expect(await textOf(new Blob([new Uint8Array([0x4d, 0xfc, 0x80])]))).toBe("Mü€");
  });
});

it("splits tags, each once", () => {
  expect(tagsOf(" gold; silver,gold ,, ")).toEqual(["gold", "silver"]);
});

describe("the import of contacts", () => {
  it.each([
    [
      ["Phone Number", "First name", "Surname", "Tags", "City"],
      ["phoneNumber", "firstName", "lastName", "tags", "attribute"],
    ],
    [
      ["Name", "Mobile", "Mobile 2", "123"],
      ["fullName", "phoneNumber", "attribute", "skip"],
    ],
    [
      ["Vorname", "Nachname", "Telefon"],
      ["firstName", "lastName", "phoneNumber"],
    ],
  ])("guesses the fields of the columns %j", (header, expected) => {
    expect(guessTargets(header)).toEqual(expected);
  });

  it("converts column names to attribute names for templates", () => {
    const columns = ["City of birth", "Größe (cm)", "2nd", "___", "Prénom", "Straße", "2nd"];
    expect(attributeNames(columns)).toEqual([
      "City_of_birth",
      "Grosse_cm",
      "nd",
      "",
      "Prenom",
      "Strasse",
      "nd_2",
    ]);
  });

  it("converts rows to contacts, with the API's message for an invalid one", () => {
    const table = [
      ["Phone", "Name", "City"],
      ["+1 500 5550000", "Ada", "London"],
      ["12", "", ""],
    ];
    const [good, bad] = rowsOf(table, ["phoneNumber", "firstName", "attribute"], "");
    expect(good).toEqual({
      line: 2,
      contact: { phoneNumber: "15005550000", firstName: "Ada", attributes: { City: "London" } },
      problem: undefined,
    });
    expect(bad).toMatchObject({ line: 3, contact: { phoneNumber: "12" } });
    expect(bad?.problem).toBe("The phone number cannot be a phone number: check its digits");
  });

  it("takes the sample as it is downloaded, and guesses its columns", () => {
    const table = parseCsv(csvOf(sample));
    const rows = rowsOf(table, guessTargets(table[0] ?? []), "");
    expect(rows.map(({ contact, problem }) => [contact["phoneNumber"], problem])).toEqual([
      ["447700900123", undefined],
      ["447700900124", undefined],
    ]);
    expect(rows[0]?.contact).toMatchObject({
      firstName: "Ada",
      tags: ["patients", "tuesday"],
      attributes: { Time: "09:30" },
    });
  });

  it("adds the code of a country to national numbers only, splits names, and finds repeated numbers", () => {
    const numbers = ["07700 900123", "7700900124", "+1 500 555 0000", "00447700900125", "447700900126", "12"];
    const rows = rowsOf(
      [
        ["Patient", "Mobile"],
        ...numbers.map((each) => ["Ada King Lovelace", each]),
        ["Plato", "07700900123"],
      ],
      ["fullName", "phoneNumber"],
      "GB",
    );
    expect(rows.map(({ contact }) => contact["phoneNumber"])).toEqual([
      "447700900123",
      "447700900124",
      "15005550000",
      "447700900125",
      "447700900126",
      "12",
      "447700900123",
    ]);
    expect(rows[0]?.contact).toMatchObject({ firstName: "Ada", lastName: "King Lovelace" });
    expect(rows.at(-1)).toMatchObject({
      contact: { firstName: "Plato" },
      problem: "an earlier row has this number",
    });
  });

  it("sends at most 1,000 rows per request, within the API's body limit", () => {
    const row = (size: number) => ({ line: 2, contact: { firstName: "ü".repeat(size) }, problem: undefined });
    const small = Array.from({ length: 2_500 }, () => row(1));
    expect([...batchesOf(small)].map((batch) => batch.length)).toEqual([1_000, 1_000, 500]);
    const large = Array.from({ length: 500 }, () => row(2_000));
    const sizes = [...batchesOf(large)].map((batch) =>
      Buffer.byteLength(JSON.stringify({ contacts: batch.map(({ contact }) => contact) })),
    );
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(1_024 * 1_024);
    expect([...batchesOf([])]).toEqual([]);
  });

  it("explains each row that was not imported", () => {
    const batch = [2, 3, 4].map((line) => ({
      line,
      contact: { phoneNumber: `1500555000${line}` },
      problem: undefined,
    }));
    const failed = failedRowsOf(batch, [
      { index: 0, status: "created", id: "con_1" },
      { index: 1, status: "duplicate", phoneNumber: "15005550003" },
      { index: 2, status: "invalid", details: [{ path: "tags", message: "must not name a tag twice" }] },
    ]);
    expect(failed.map(({ line }) => line)).toEqual([3, 4]);
    expect(failed[1]?.problem).toBe("The tags must not name a tag twice");
  });
});

describe("the estimate of a campaign", () => {
  const contact = (fields: Partial<Contact>): Contact => ({
    id: "con_1",
    phoneNumber: "15005550000",
    version: 1,
    tags: ["customers"],
    attributes: {},
    optedOut: false,
    createdAt: "",
    updatedAt: "",
    ...fields,
  });
  const prices = new Map([
    ["1", 0.01],
    ["1500", 0.02],
  ]);

  it("adds up each contact's own text at the price of the number, and counts the skipped contacts", () => {
    const contacts = [
      contact({ firstName: "Ada" }),
      contact({ firstName: "x".repeat(160), phoneNumber: "12125550000" }),
      contact({ firstName: "x".repeat(1_600) }),
      contact({}),
      contact({ firstName: "Eve", optedOut: true }),
      contact({ firstName: "Ann", phoneNumber: "447700900123" }),
      contact({ firstName: "Bob", tags: [] }),
    ];
    const plan = {
      audience: { tags: ["customers"] },
      language: "English" as const,
      message: "Hi {{firstName}}",
    };
    expect(estimateAudience(plan, contacts, prices)).toEqual({
      messages: 2,
      segments: 3,
      cost: 0.04,
      optedOut: 1,
      unrenderable: 2,
      notPriced: 1,
    });
    expect(estimateAudience({ ...plan, audience: { all: true } }, contacts, prices).messages).toBe(3);
    expect(
      estimateAudience({ ...plan, audience: { contactIds: ["con_2"] } }, contacts, prices).messages,
    ).toBe(0);
  });

  it("uses the price of all other numbers if there is one", () => {
    const withRest = new Map([...prices, ["", 0.05]]);
    const plan = { audience: { all: true as const }, language: "Unicode" as const, message: "x".repeat(71) };
    expect(estimateAudience(plan, [contact({ phoneNumber: "447700900123" })], withRest)).toMatchObject({
      segments: 2,
      cost: 0.1,
    });
    const withBlocked = new Map([...withRest, ["4477", undefined]]);
    expect(estimateAudience(plan, [contact({ phoneNumber: "447700900123" })], withBlocked)).toMatchObject({
      messages: 0,
      notPriced: 1,
    });
  });
});

it.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [7, 8],
  [9, 10],
  [10, 20],
  [14, 20],
  [136, 200],
  [999, 1_000],
  [1_001, 2_000],
])("a scale for %i messages ends at %i", (most, top) => {
  expect(scaleTop(most)).toBe(top);
});

it("a field shows sentences without terms of schemas", () => {
  const problem = (path: string, ...messages: string[]) =>
    problemOfField(
      path,
      messages.map((message) => ({ path, message })),
    );
  expect(problem("message", "must be at most 1600 characters long")).toBe(
    "Must be at most 1600 characters long.",
  );
  expect(problem("senderId", "Too big: expected string to have <=11 characters")).toBe(
    "Use up to 11 letters and digits.",
  );
  expect(
    problem(
      "senderId",
      "Too big: expected string to have <=11 characters",
      "must be letters and digits only",
    ),
  ).toBe("Must be letters and digits only.");
  expect(problem("name", "Invalid input: expected string, received undefined")).toBe(
    "This field is missing or invalid.",
  );
  const ofNumber = "must be the country code and the number in digits, with or without a plus sign";
  expect(problem("to", ofNumber)).toMatch(/^Enter a phone number with its country code/);
  expect(problem("to", "begins with no country code that exists")).toBe(
    "Begins with no country code that exists.",
  );
  expect(problemOfField("to", [{ path: "message", message: "must not be empty" }])).toBeUndefined();
});
