import { expect, it } from "vitest";

import {
  compareSums,
  MessageComparison,
  type SentMessage,
} from "../../infra/operator/invoice-differences.ts";
import type { InvoiceLine } from "../../infra/operator/invoice-lines.ts";

const november = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };
const question = { carrier: "acme", period: november, list: undefined, tests: new Set(["AC-Test"]) };
const line: InvoiceLine = {
  line: 2,
  reference: "ac-1",
  day: undefined,
  country: "DE",
  network: "",
  parts: 1,
  micros: 20_000,
  toleranceMicros: 0,
};
const sent: SentMessage = {
  id: "msg_1",
  to: "4915112345678",
  status: "sent",
  carrier: "acme",
  carrierReference: "ac-1",
  segments: 1,
  costMicros: 20_000,
  sentAt: "2026-11-30T23:59:59.000Z",
};

function kindsOf(lines: readonly InvoiceLine[], messages: readonly SentMessage[]): string[] {
  const comparison = new MessageComparison(lines, question);
  for (const message of messages) comparison.add(message);
  const { differences, matched } = comparison.end();
  return [...differences.map(({ kind }) => kind), `${matched} matched`];
}

it.each<readonly [string, Partial<InvoiceLine>, Partial<SentMessage>, readonly string[]]>([
  ["with the carrier's reference", {}, {}, ["1 matched"]],
  ["with the gateway's ID", { reference: "msg_1" }, {}, ["1 matched"]],
  [
    "with the reference that the gateway sent, in capitals",
    { reference: "ORG_1.MSG_01M8NMMYSJN62Y6AQK9R99BW5B" },
    { id: "msg_01M8NMMYSJN62Y6AQK9R99BW5B" },
    ["1 matched"],
  ],
  [
    "without a number of parts",
    { parts: undefined, micros: 60_000 },
    { segments: 3, costMicros: 60_000 },
    ["1 matched"],
  ],
  ["with a rounded amount", { micros: 15_000, toleranceMicros: 5_000 }, {}, ["1 matched"]],
  ["that was sent in the month before", {}, { sentAt: "2026-10-31T23:59:59.000Z" }, ["1 matched"]],
  ["with a micro-unit more", { micros: 20_001 }, {}, ["1 matched"]],
  ["with two micro-units more", { micros: 20_002 }, {}, ["other price", "0 matched"]],
  ["whose cost is unknown", {}, { costMicros: undefined }, ["other price", "0 matched"]],
  [
    "whose outcome is unknown, and that another carrier sent",
    { reference: "msg_1" },
    {
      carrier: "other",
      carrierReference: "x",
      attemptLog: [{ at: november.start, carrier: "acme", outcome: "unknown" }],
    },
    ["outcome unknown", "0 matched"],
  ],
  [
    "that the other carrier sent",
    {},
    { carrier: "other", carrierReference: "x" },
    ["billed, not sent", "0 matched"],
  ],
])("a billed message %s", (_what, ofLine, ofMessage, expected) => {
  expect(kindsOf([{ ...line, ...ofLine }], [{ ...sent, ...ofMessage }])).toEqual(expected);
});

it("a line of an operator's test is no difference", () => {
  for (const reference of ["AC-Test", "ac-test"])
    expect(kindsOf([line, { ...line, reference }], [sent])).toEqual(["1 matched"]);
});

it("one line for each part is one message, and two names of a message are billed twice", () => {
  const ofThree = { ...sent, segments: 3, costMicros: 60_000 };
  expect(kindsOf([line, { ...line, line: 3 }, { ...line, line: 4 }], [ofThree])).toEqual(["1 matched"]);
  expect(kindsOf([line, { ...line, line: 3, reference: "msg_1" }], [sent])).toEqual([
    "billed twice",
    "1 matched",
  ]);
});

it("a charge without a reference is billed and not sent", () => {
  expect(kindsOf([line, { ...line, line: 3, reference: undefined }], [sent])).toEqual([
    "billed, not sent",
    "1 matched",
  ]);
});

it("prices are those of the list, by prefix, by network and for the country of the line", () => {
  const at = [{ from: "", micros: 30_000 }];
  const lists = [
    { lines: 1, ofPrefixes: new Map([["4915", at]]), ofCountries: new Map() },
    { lines: 1, ofPrefixes: new Map(), ofCountries: new Map([["DE", new Map([["26202", at]])]]) },
  ];
  for (const list of lists) {
    const comparison = new MessageComparison([{ ...line, network: "26202" }], { ...question, list });
    comparison.add(sent);
    expect(comparison.end()).toMatchObject({
      differences: [{ kind: "other price", expectedMicros: 30_000 }],
      unlisted: 0,
    });
  }
});

it("a message of another month is not missing", () => {
  const ofDecember = { ...sent, sentAt: november.end };
  expect(kindsOf([], [sent, ofDecember])).toEqual(["sent, not billed", "0 matched"]);
});

it("an invoice with sums is compared by country, and by day if it has days", () => {
  const sums = [
    { country: "DE", day: "2026-11-01", segments: 2, costMicros: 40_000 },
    { country: "DE", day: "2026-11-02", segments: 1, costMicros: 20_000 },
    { country: "FR", day: "2026-11-02", segments: 1, costMicros: 30_000 },
  ];
  const ofMonth = { ...line, reference: undefined, parts: 3, micros: 60_000 };
  const france = { ...ofMonth, line: 3, country: "FR", parts: 2 };
  const shown = (lines: readonly InvoiceLine[]): unknown[] =>
    compareSums(lines, sums).differences.map(({ kind, country, day = "", billedParts, sentParts }) =>
      [kind, country, day, billedParts, sentParts].join(" "),
    );
  expect(shown([ofMonth, france])).toEqual(["other parts FR  2 1"]);
  // A fee of a country without messages, and one of no country.
  expect(
    shown([ofMonth, { ...france, parts: 1, micros: 30_000 }, { ...france, country: "ES", parts: 0 }]),
  ).toEqual(["billed, not sent ES  0 0"]);
  expect(
    shown([ofMonth, { ...france, parts: 1, micros: 30_000 }, { ...france, country: undefined }]),
  ).toEqual(["billed, not sent   2 0"]);
  expect(shown([{ ...ofMonth, day: "2026-11-01", parts: 2, micros: 40_000 }])).toEqual([
    "sent, not billed DE 2026-11-02 0 1",
    "sent, not billed FR 2026-11-02 0 1",
  ]);
});
