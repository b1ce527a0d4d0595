import { edges, PdfSheet, styles, type Column, type Style } from "./pdf-sheet.ts";
import type { DocumentRecord } from "./record.ts";

/*
 * The pages of a document. Import this file dynamically: a bundle keeps it as a separate file, with the library for PDF.
 */

const wholeWidth = edges.right - edges.left;
const columnWidth = (wholeWidth - 32) / 2;
const leftColumn: Column = { left: edges.left, width: columnWidth };
const rightColumn: Column = { left: edges.right - columnWidth, width: columnWidth };
const amountColumn: Column = { left: edges.right - 120, width: 120, align: "right" };
const descriptionWidth = wholeWidth - amountColumn.width - 16;

export async function drawDocument(document: DocumentRecord): Promise<Uint8Array> {
  const { kind, number, issuedAt, seller, brand } = document;
  const title = kind === "invoice" ? "Invoice" : "Credit note";
  const sheet = new PdfSheet(`${title} ${number}`, seller.name, new Date(issuedAt));
  if (brand !== undefined) sheet.write(brand.name, { ...styles.strong, color: brand.color }, leftColumn);
  sheet.write(title, styles.title, { ...leftColumn, tag: "H1" });
  sheet.y = edges.top;
  drawParty(sheet, seller, rightColumn);
  sheet.y += 28;
  drawBuyerAndFacts(sheet, document);
  sheet.y += 28;
  sheet.group("Table", () => {
    drawLines(sheet, document);
    drawTotals(sheet, document);
  });
  drawNotes(sheet, document);
  return sheet.finish((page, pages) => `${number}  ·  Page ${page} of ${pages}`);
}

/** Draws the buyer next to the numbers and dates of the document. */
function drawBuyerAndFacts(sheet: PdfSheet, document: DocumentRecord): void {
  const top = sheet.y;
  sheet.write(document.kind === "invoice" ? "Bill to" : "Credit to", styles.label, leftColumn);
  drawParty(sheet, document.buyer, leftColumn);
  const buyerEnd = sheet.y;
  sheet.y = top;
  for (const [label, value] of [
    ["Number", document.number],
    ["Date of issue", dateText(document.issuedAt, document.timeZone)],
    ["Corrects invoice", document.corrects],
    ["Payment reference", document.paymentId],
    ["Refund reference", document.refundId],
  ] as const) {
    if (value === undefined) continue;
    sheet.write(label, styles.label, rightColumn);
    sheet.write(value, styles.body, rightColumn);
    sheet.y += 4;
  }
  sheet.y = Math.max(buyerEnd, sheet.y);
}

type Party = DocumentRecord["buyer"] & Partial<Pick<DocumentRecord["seller"], "email">>;

function drawParty(sheet: PdfSheet, party: Party, column: Column): void {
  const { name, address = [], country, vatNumber, taxNumber, email } = party;
  sheet.write(name, { ...styles.strong, country }, column);
  const vatLine = vatNumber && `VAT number ${vatNumber}`;
  const taxLine = taxNumber && `Tax number ${taxNumber}`;
  for (const line of [...address, country && countryName(country), vatLine, taxLine, email]) {
    if (line !== undefined) sheet.write(line, { ...styles.body, country }, column);
  }
}

function drawLines(sheet: PdfSheet, { lines, currency }: DocumentRecord): void {
  const drawHead = (): void => drawRow(sheet, ["Description", "Amount"], styles.label, { scope: "Column" });
  drawHead();
  for (const { description, amountMicros } of lines) {
    if (sheet.breakBefore(description, styles.body, descriptionWidth)) drawHead();
    sheet.rule(edges.left);
    sheet.y += 8;
    drawRow(sheet, [description, moneyText(amountMicros, currency)], styles.body);
  }
  sheet.rule(edges.left);
}

/** Draws a row of a table, with headings if they have a scope. */
function drawRow(
  sheet: PdfSheet,
  [text, amount]: readonly [string, string],
  style: Style,
  { left = edges.left, scope }: { left?: number; scope?: "Column" | "Row" } = {},
): void {
  sheet.group("TR", () => {
    const top = sheet.y;
    const width = edges.left + descriptionWidth - left;
    sheet.write(text, style, { left, width, tag: scope === undefined ? "TD" : "TH", scope });
    const end = sheet.y;
    sheet.y = top;
    const isHeading = scope === "Column";
    sheet.write(amount, style, {
      ...amountColumn,
      tag: isHeading ? "TH" : "TD",
      scope: isHeading ? scope : undefined,
    });
    sheet.y = Math.max(end, sheet.y) + 6;
  });
}

function drawTotals(sheet: PdfSheet, document: DocumentRecord): void {
  const { kind, amountMicros, taxMicros, taxRate, totalMicros, currency, localTax } = document;
  const drawSum = (text: string, micros: number, style: Style): void =>
    drawRow(sheet, [text, moneyText(micros, currency)], style, { left: rightColumn.left, scope: "Row" });
  sheet.y += 14;
  sheet.breakBefore("\n\n\n\n", styles.body, wholeWidth);
  drawSum("Net amount", amountMicros, styles.body);
  drawSum(`Tax (${taxRate}%)`, taxMicros, styles.body);
  sheet.rule(rightColumn.left, "#111111");
  sheet.y += 8;
  drawSum(kind === "invoice" ? "Total" : "Total credit", totalMicros, styles.strong);
  if (localTax === undefined) return;
  const amount = moneyText(localTax.micros, localTax.currency);
  drawRow(sheet, [`Tax in ${localTax.currency}`, amount], styles.body, {
    left: rightColumn.left,
    scope: "Row",
  });
}

function drawNotes(sheet: PdfSheet, document: DocumentRecord): void {
  const { kind, taxNote, paidAt, timeZone, method = "card", currency, localTax } = document;
  const [paid, byCard] = kind === "invoice" ? ["Paid", "by card"] : ["Refunded", "to the card"];
  const way = method === "card" ? byCard : "by bank transfer";
  sheet.y += 24;
  const rate = localTax && `Exchange rate: 1 ${currency} = ${localTax.exchangeRate} ${localTax.currency}.`;
  for (const note of [rate, taxNote, paidAt && `${paid} on ${dateText(paidAt, timeZone)} ${way}.`]) {
    if (note === undefined) continue;
    sheet.breakBefore(note, styles.body, wholeWidth);
    sheet.write(note, styles.body, { left: edges.left, width: wholeWidth });
    sheet.y += 4;
  }
}

/** Names the zone of UTC, which readers may not expect. Documents of older releases do not, and are final. */
function dateText(moment: string, timeZone: string | undefined): string {
  const format = { dateStyle: "long", timeZone: timeZone ?? "UTC" } as const;
  const date = new Intl.DateTimeFormat("en-GB", format).format(new Date(moment));
  return timeZone === "UTC" ? `${date} (UTC)` : date;
}

function countryName(code: string): string {
  return new Intl.DisplayNames("en", { type: "region" }).of(code) ?? code;
}

function moneyText(micros: number, currency: string): string {
  const format = { style: "currency", currency, currencyDisplay: "code" } as const;
  return new Intl.NumberFormat("en-GB", format).format(micros / 1_000_000);
}
