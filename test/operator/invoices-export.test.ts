import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { expect, it } from "vitest";

import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import type { DocumentRecord } from "../../shared/money/invoices/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { invoice, reverseCharge } from "../support/invoices.ts";
import { auditLog, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const operated = useOperatedGateway();

async function put(document: DocumentRecord): Promise<DocumentRecord> {
  await putItem(putOf(keys.invoice(document.organizationId, document.number), document));
  return document;
}

it("the documents of a month are a register that adds up, and an archive of PDFs", async () => {
  const [one, other] = [await operated.register(), await operated.register()];
  const [organizationId, paymentId] = [one.organizationId, "pay_01JQ8Z3K5V7W9X2Y4A6B8C0D1F"];
  const issuedAt = "2026-03-31T23:59:59.999Z";
  const first = await put(invoice({ organizationId, paymentId, issuedAt }));
  const note = { number: "CRN-2026-000001", kind: "credit_note", corrects: first.number } as const;
  const credited = { amountMicros: 10_000_000, taxMicros: 1_900_000, totalMicros: 11_900_000 };
  const localTax = { currency: "GBP", micros: 1_630_000, exchangeRate: "0.8579" };
  // In Auckland this is a day of March.
  const local = { issuedAt: "2026-02-28T12:00:00.000Z", timeZone: "Pacific/Auckland", localTax };
  await put(invoice({ organizationId, paymentId, ...note, ...credited, ...local }));
  const buyer = { name: "=HYPERLINK()", country: "AT", vatNumber: "ATU12345678", taxNumber: "12/345" };
  const number = "INV-2026-000043";
  const stored = await put(
    invoice({ organizationId: other.organizationId, number, buyer, ...reverseCharge }),
  );
  await put(invoice({ organizationId, number: "INV-2026-000044", issuedAt: "2026-04-01T00:00:00.000Z" }));
  // Its PDF is in the bucket, and those of the others are not yet.
  const places = path.join(operated.dataFolder, "documents", stored.organizationId);
  await mkdir(places, { recursive: true });
  await writeFile(path.join(places, `${number}.pdf`), "%PDF-stored");

  const folder = path.join(operated.dataFolder, "invoices");
  const command = `invoices export 2026-03 --to ${folder}`;
  expect(await outputOf(command)).toMatch(/^3 invoices and credit notes of 2026-03 are in /);
  expect(await rejectionOf(command)).toContain("Cannot create the folder");
  expect((await readdir(folder)).toSorted()).toEqual(["documents.zip", "invoices.csv"]);
  const lines = (await readFile(path.join(folder, "invoices.csv"), "utf8")).trimEnd().split("\r\n");
  expect(lines).toEqual([
    "number,date,type,corrects,organization,payment,name,country,vat_number,tax_number,tax_rate,reverse_charge," +
      "net,tax,gross,currency,local_tax,local_currency,file",
    `CRN-2026-000001,2026-03-01,credit_note,INV-2026-000042,${organizationId},${paymentId},Café Zürich KG,DE,,,19,no,` +
      "-10.000000,-1.900000,-11.900000,EUR,-1.630000,GBP,documents.zip/CRN-2026-000001.pdf",
    `INV-2026-000042,2026-03-31,invoice,,${organizationId},${paymentId},Café Zürich KG,DE,,,19,no,` +
      "100.000000,19.000000,119.000000,EUR,,,documents.zip/INV-2026-000042.pdf",
    `INV-2026-000043,2026-03-02,invoice,,${other.organizationId},${stored.paymentId},'=HYPERLINK(),AT,ATU12345678,12/345,0,yes,` +
      "100.000000,0.000000,100.000000,EUR,,,documents.zip/INV-2026-000043.pdf",
  ]);
  const contentOf = (file: string): Buffer =>
    execFileSync("unzip", ["-p", path.join(folder, "documents.zip"), file]);
  expect(contentOf("INV-2026-000042.pdf")).toEqual(Buffer.from(await renderPdf(first)));
  expect(contentOf(`${number}.pdf`).toString()).toBe("%PDF-stored");
  expect(await auditLog("invoices export")).toContainEqual(
    expect.objectContaining({ subject: { month: "2026-03", to: folder }, after: { documents: 3 } }),
  );
});

it("a month without documents has an empty register", async () => {
  const folder = path.join(operated.dataFolder, "none");
  expect(await outputOf(`invoices export 2025-01 --to ${folder}`)).toMatch(/^0 invoices/);
  expect(await readdir(folder)).toEqual(["invoices.csv"]);
});
