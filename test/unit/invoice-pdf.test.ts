import { describe, expect, it } from "vitest";

import { readRanges } from "../../infra/build/characters.ts";
import characters from "../../shared/money/invoices/characters.json" with { type: "json" };
import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import { invoice } from "../support/invoices.ts";
import { linesOfPdf } from "../support/pdf.ts";

/** Returns the lines of a document's pages. A space between a currency and an amount does not break. */
async function pagesOf(changes: Parameters<typeof invoice>[0] = {}): Promise<string[][]> {
  const pages = linesOfPdf(await renderPdf(invoice(changes)));
  return pages.map((lines) => lines.map((line) => line.replaceAll("\u00A0", " ")));
}

it("an invoice has everything that a customer's books need", async () => {
  expect(await pagesOf()).toEqual([
    [
      "Invoice",
      "Nordlicht Messaging GmbH",
      "Hafenstraße 12",
      "20457 Hamburg",
      "Germany",
      "VAT number DE123456789",
      "billing@nordlicht.example",
      "Bill to",
      "Café Zürich KG",
      "Lindenallee 5",
      "50668 Köln",
      "Germany",
      "Number",
      "INV-2026-000042",
      "Date of issue",
      "2 March 2026",
      "Payment reference",
      "pay_01JQ8Z3K5V7W9X2Y4A6B8C0D1E",
      "Description",
      "Amount",
      "Prepaid balance",
      "EUR 100.00",
      "Net amount",
      "EUR 100.00",
      "Tax (19%)",
      "EUR 19.00",
      "Total",
      "EUR 119.00",
      "Paid on 1 March 2026 by card.",
      "INV-2026-000042  ·  Page 1 of 1",
    ],
  ]);
});

it("the brand of the time of issue is above the title", async () => {
  const [lines = []] = await pagesOf({ brand: { name: "Nordlicht SMS", color: "#0b4fb3" } });
  expect(lines.slice(0, 2)).toEqual(["Nordlicht SMS", "Invoice"]);
});

it("a credit note names the invoice that it corrects, and the refund", async () => {
  const [lines = []] = await pagesOf({
    kind: "credit_note",
    number: "CRN-2026-000007",
    corrects: "INV-2026-000042",
    refundId: "rfd_1",
    method: "bank_transfer",
  });
  expect(lines[0]).toBe("Credit note");
  const texts = [
    "Credit to",
    "Corrects invoice",
    "INV-2026-000042",
    "Refund reference",
    "rfd_1",
    "Total credit",
  ];
  expect(lines).toEqual(expect.arrayContaining(texts));
  expect(lines).toContain("Refunded on 1 March 2026 by bank transfer.");
});

it("a reverse charge is explained, and a payment to come is not called paid", async () => {
  const { paidAt: _paidAt, method: _method, ...open } = invoice({ taxMicros: 0, taxRate: 0 });
  const taxNote = "Reverse charge: the recipient is liable for VAT.";
  const [lines = []] = linesOfPdf(await renderPdf({ ...open, taxNote }));
  expect(lines).toContain(taxNote);
  expect(lines).toContain("Tax (0%)");
  expect(lines.join("\n")).not.toContain("Paid");
});

it.each([
  ["JPY", 12_000_000_000, "JPY 12,000"],
  ["USD", 1_234_567_890_000, "USD 1,234,567.89"],
])("an amount in %s has the decimals of the currency", async (currency, totalMicros, text) => {
  const [lines = []] = await pagesOf({ currency, totalMicros });
  expect(lines).toContain(text);
});

it("has the structure that screen readers need", async () => {
  const file = Buffer.from(await renderPdf(invoice())).toString("latin1");
  expect(file).toMatch(/\/Marked true[\s\S]*\/Lang \(en\)|\/Lang \(en\)[\s\S]*\/Marked true/);
  expect(file).toContain("<pdfuaid:part>1</pdfuaid:part>");
  expect(file).not.toContain("/CIDSet");
  const elements = Array.from(
    file.matchAll(/\/S \/(\w+)(?:\n\/A <<[^>]*?\/Scope \/(\w+))?/g),
    ([, tag, scope]) => (scope === undefined ? tag : `${tag} ${scope}`),
  );
  const counts = Object.entries(Object.groupBy(elements, (each) => each ?? "")).map(([tag, all]) => [
    tag,
    all?.length,
  ]);
  expect(Object.fromEntries(counts)).toEqual({
    Document: 1,
    H1: 1,
    P: 18,
    Table: 1,
    TR: 5,
    "TH Column": 2,
    "TH Row": 3,
    TD: 5,
  });
});

it("has each character of the list that names are checked with", () => {
  expect(readRanges()).toBe(characters.ranges);
});

describe("the same document", () => {
  it("has the same bytes, at any time", async () => {
    const first = await renderPdf(invoice());
    expect(Buffer.from(await renderPdf(invoice())).equals(first)).toBe(true);
    expect(Buffer.from(first).toString("latin1")).toMatch(/\(D:20260302233000Z\)/);
  });

  it("has other bytes than another", async () => {
    const first = await renderPdf(invoice());
    expect(Buffer.from(await renderPdf(invoice({ number: "INV-2026-000043" }))).equals(first)).toBe(false);
  });
});

describe("any text of a customer", () => {
  it("in Latin, Greek and Cyrillic letters is kept", async () => {
    const names = ["Łódź Çelik Ğ", "Ελληνική Εταιρεία", "Київ «Північ»", "Việt Nam"];
    const [lines = []] = await pagesOf({ buyer: { name: "x", address: names } });
    expect(lines).toEqual(expect.arrayContaining(names));
  });

  it("in an earlier release keeps a box for what no font has, and a control becomes a space", async () => {
    const [lines = []] = await pagesOf({ buyer: { name: "\u{1F469}\u200D\u{1F467} a\n\tb e\u0301" } });
    expect(lines).toContain("□ a b é");
  });

  it("is wrapped, also without spaces", async () => {
    const word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
    const [lines = []] = await pagesOf({ buyer: { name: "Wide ".repeat(30), address: [word] } });
    expect(lines).not.toContain(word);
    expect(lines.join("")).toContain(word);
    expect(lines.filter((line) => line.startsWith("Wide Wide")).length).toBeGreaterThan(2);
  });
});

it("many lines flow to more pages, each with the heading and its number", async () => {
  const lines = Array.from({ length: 25 }, (_, index) => ({
    description: `Item ${index + 1}`,
    amountMicros: 1_000_000,
  }));
  const pages = await pagesOf({ lines, taxNote: "A note. ".repeat(50) });
  expect(pages).toHaveLength(2);
  expect(pages[1]).toEqual(expect.arrayContaining(["Description", "Item 25", "Total"]));
  expect(pages.flat().filter((line) => line.startsWith("Item "))).toHaveLength(25);
  expect(pages.map((page) => page.at(-1))).toEqual([
    "INV-2026-000042  ·  Page 1 of 2",
    "INV-2026-000042  ·  Page 2 of 2",
  ]);
});
