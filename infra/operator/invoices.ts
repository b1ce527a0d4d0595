import { writeFile } from "node:fs/promises";
import path from "node:path";

import { zipOf } from "@sms-gateway/build/zip.ts";
import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import * as z from "zod/mini";

import { Month } from "../../shared/api/contract/primitives.ts";
import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import { dayIn, documentsOf, type DocumentRecord } from "../../shared/money/invoices/record.ts";
import { readPdf } from "../../shared/money/invoices/storage.ts";
import { decimalText } from "../../shared/money/wallet/money.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { buyerColumns } from "./books-files.ts";
import { command, part, RequiredText } from "./command.ts";
import { newCsvFile, newFolder } from "./csv-files.ts";
import { searchOrganizations } from "./organization.ts";

/** The PDFs of an archive, which is made in memory, and those that are read at the same time. */
const inArchive = 5_000;
const together = 25;

export const exportInvoices = command({
  name: "invoices export",
  summary: "Write the invoices and credit notes of a month as a CSV file, and their PDFs as an archive",
  details:
    "Creates a folder with invoices.csv and documents.zip. The month is that of the issue, in the seller's time zone. Credit notes have negative " +
    "amounts, so that each column adds up. Reads one unit for each organization. More than 5,000 documents are in further archives.",
  examples: ["2026-11 --to invoices-2026-11 --stage prod"],
  input: z.object({
    month: part("<month>", "month such as 2026-11", Month),
    to: part("--to <folder>", "new folder", RequiredText),
  }),
  run: async ({ month, to }, { output, stackOutput, record, changed }) => {
    process.env[environmentNames.documentsBucket] = stackOutput(outputNames.documentsBucketName).value;
    await record({});
    await newFolder(to);
    const search = async (id: string): Promise<DocumentRecord[]> => documentsOfMonth(id, month);
    const { found } = await searchOrganizations(search, output, { most: Infinity });
    const documents = found.toSorted((one, other) => (one.number < other.number ? -1 : 1));
    const add = await newCsvFile<Listed>(to, "invoices.csv", columns);
    const files = ["invoices.csv"];
    for (let start = 0; start < documents.length; start += inArchive) {
      const archive = start === 0 ? "documents.zip" : `documents-${start / inArchive + 1}.zip`;
      const some = documents.slice(start, start + inArchive);
      const content = zipOf(await readPdfs(some, (read) => output.progress(`${start + read} PDFs read`)));
      await writeFile(path.join(to, archive), content, { flag: "wx", mode: 0o600 });
      await add(some.map((of) => ({ ...of, of, archive })));
      files.push(archive);
    }
    changed({ documents: documents.length });
    output.result(
      { month, to, documents: documents.length, files },
      `${documents.length} invoices and credit notes of ${month} are in ${to}: ${files.join(", ")}`,
    );
  },
});

interface Listed extends DocumentRecord {
  readonly of: DocumentRecord;
  readonly archive: string;
}

const amount =
  (field: "amountMicros" | "taxMicros" | "totalMicros") =>
  ({ kind, [field]: micros }: Listed): string =>
    decimalText(kind === "invoice" ? micros : -micros);

const columns = {
  number: "number",
  date: ({ timeZone, issuedAt }: Listed) => dayIn(timeZone, issuedAt),
  type: "kind",
  corrects: "corrects",
  organization: "organizationId",
  payment: "paymentId",
  ...buyerColumns,
  net: amount("amountMicros"),
  tax: amount("taxMicros"),
  gross: amount("totalMicros"),
  currency: "currency",
  local_tax: ({ kind, localTax }: Listed) =>
    localTax && decimalText(kind === "invoice" ? localTax.micros : -localTax.micros),
  local_currency: ({ localTax }: Listed) => localTax?.currency,
  file: ({ number, archive }: Listed) => `${archive}/${number}.pdf`,
} as const;

async function documentsOfMonth(organizationId: string, month: string): Promise<DocumentRecord[]> {
  const found: DocumentRecord[] = [];
  for await (const each of documentsOf(organizationId))
    if (dayIn(each.timeZone, each.issuedAt).startsWith(month)) found.push(each);
  return found;
}

/** A PDF that is not stored yet is the same whenever it is rendered. */
async function readPdfs(
  documents: readonly DocumentRecord[],
  onProgress: (read: number) => void,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (let start = 0; start < documents.length; start += together) {
    const some = documents.slice(start, start + together);
    const pdfs = await Promise.all(some.map(async (each) => (await readPdf(each)) ?? renderPdf(each)));
    for (const [index, { number }] of some.entries())
      files.set(`${number}.pdf`, Buffer.from(pdfs[index] ?? []));
    onProgress(files.size);
  }
  return files;
}
