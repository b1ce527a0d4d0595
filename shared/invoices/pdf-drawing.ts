import { edges, PdfSheet, styles, type Place } from "./pdf-sheet.ts";
import type { DocumentRecord } from "./record.ts";

/*
 * The pages of a document. Import this file dynamically: a bundle keeps it as a separate file, with the library for PDF.
 */

const half = (edges.right - edges.left - 32) / 2;
const leftColumn: Place = { left: edges.left, width: half };
const rightColumn: Place = { left: edges.right - half, width: half };
const amountWidth = 120;
const descriptionWidth = edges.right - edges.left - amountWidth - 16;

export async function drawDocument(document: DocumentRecord): Promise<Uint8Array> {
  const { kind, number, issuedAt, seller } = document;
  const title = kind === "invoice" ? "Invoice" : "Credit note";
  const sheet = new PdfSheet(`${title} ${number}`, seller.name, new Date(issuedAt));
  sheet.write(title, styles.title, leftColumn);
  drawBlocks(sheet, document);
  drawLines(sheet, document);
  drawTotals(sheet, document);
  drawNotes(sheet, document);
  return sheet.finish((page, pages) => `${number}  ·  Page ${page} of ${pages}`);
}

/** Draws the seller next to the title, and below it the buyer next to the numbers and dates of the document. */
function drawBlocks(sheet: PdfSheet, { seller, buyer, ...document }: DocumentRecord): void {
  sheet.y = Math.max(drawParty(sheet, seller, rightColumn), sheet.y + 36) + 28;
  const top = sheet.write(document.kind === "invoice" ? "Bill to" : "Credit to", styles.label, leftColumn);
  const buyerEnd = drawParty(sheet, buyer, { ...leftColumn, top });
  const facts: [string, string | undefined][] = [
    ["Number", document.number],
    ["Date of issue", dateText(document.issuedAt)],
    ["Corrects invoice", document.corrects],
    ["Payment reference", document.paymentId],
    ["Refund reference", document.refundId],
  ];
  let factsEnd = sheet.y;
  for (const [label, value] of facts) {
    if (value === undefined) continue;
    const labelEnd = sheet.write(label, styles.label, { ...rightColumn, top: factsEnd });
    factsEnd = sheet.write(value, styles.body, { ...rightColumn, top: labelEnd }) + 4;
  }
  sheet.y = Math.max(buyerEnd, factsEnd) + 28;
}

type Party = DocumentRecord["buyer"] & Partial<Pick<DocumentRecord["seller"], "email">>;

/** @returns the end of the block from the top */
function drawParty(sheet: PdfSheet, party: Party, { top = sheet.y, ...place }: Place): number {
  const { name, address = [], country, vatNumber, email } = party;
  const lines = [
    ...address,
    ...(country === undefined ? [] : [countryName(country)]),
    ...(vatNumber === undefined ? [] : [`VAT number ${vatNumber}`]),
    ...(email === undefined ? [] : [email]),
  ];
  const nameEnd = sheet.write(name, styles.strong, { ...place, top });
  return lines.reduce((end, line) => sheet.write(line, styles.body, { ...place, top: end }), nameEnd);
}

function drawLines(sheet: PdfSheet, { lines, currency }: DocumentRecord): void {
  drawRow(sheet, "Description", "Amount", styles.label);
  for (const { description, amountMicros } of lines) {
    const height = sheet.heightOf(description, styles.body, descriptionWidth);
    if (sheet.breakBefore(height + 16)) drawRow(sheet, "Description", "Amount", styles.label);
    sheet.y += 8;
    drawRow(sheet, description, moneyText(amountMicros, currency), styles.body);
  }
}

/** Draws a row with a line below it. */
function drawRow(
  sheet: PdfSheet,
  description: string,
  amount: string,
  style: (typeof styles)["body" | "label"],
): void {
  sheet.write(amount, style, { left: edges.right - amountWidth, width: amountWidth, align: "right" });
  sheet.y = sheet.write(description, style, { left: edges.left, width: descriptionWidth }) + 6;
  sheet.rule(edges.left);
}

function drawTotals(sheet: PdfSheet, document: DocumentRecord): void {
  const { kind, amountMicros, taxMicros, taxRate, totalMicros, currency } = document;
  sheet.breakBefore(90);
  sheet.y += 14;
  drawSum(sheet, "Net amount", moneyText(amountMicros, currency), styles.body);
  drawSum(sheet, `Tax (${taxRate}%)`, moneyText(taxMicros, currency), styles.body);
  sheet.rule(rightColumn.left, "#111111");
  sheet.y += 8;
  drawSum(
    sheet,
    kind === "invoice" ? "Total" : "Total credit",
    moneyText(totalMicros, currency),
    styles.strong,
  );
}

function drawSum(
  sheet: PdfSheet,
  label: string,
  amount: string,
  style: (typeof styles)["body" | "strong"],
): void {
  const amountLeft = edges.right - amountWidth;
  sheet.write(amount, style, { left: amountLeft, width: amountWidth, align: "right" });
  sheet.y = sheet.write(label, style, { left: rightColumn.left, width: half - amountWidth }) + 5;
}

function drawNotes(sheet: PdfSheet, document: DocumentRecord): void {
  const { kind, taxNote, paidAt, method = "card" } = document;
  const ways =
    kind === "invoice"
      ? { card: "by card", bank_transfer: "by bank transfer" }
      : { card: "to the card", bank_transfer: "by bank transfer" };
  const paid = kind === "invoice" ? "Paid" : "Refunded";
  const notes = [
    ...(taxNote === undefined ? [] : [taxNote]),
    ...(paidAt === undefined ? [] : [`${paid} on ${dateText(paidAt)} ${ways[method]}.`]),
  ];
  const width = edges.right - edges.left;
  sheet.y += 24;
  for (const note of notes) {
    sheet.breakBefore(sheet.heightOf(note, styles.body, width));
    sheet.y = sheet.write(note, styles.body, { left: edges.left, width }) + 4;
  }
}

function dateText(moment: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(new Date(moment));
}

function countryName(code: string): string {
  return new Intl.DisplayNames("en", { type: "region" }).of(code) ?? code;
}

function moneyText(micros: number, currency: string): string {
  const format = { style: "currency", currency, currencyDisplay: "code" } as const;
  return new Intl.NumberFormat("en-GB", format).format(micros / 1_000_000);
}
