import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { afterEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { noFigures, writeFigures, noMessages } from "../../shared/messages/counts/figures.ts";
import { findPayment } from "../../shared/money/payments/record.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { itemsIn } from "../../shared/platform/table/lists.ts";
import { ledgerOf, withAllShards } from "../../shared/platform/table/shards.ts";
import { putItem, putOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import type { Customer } from "../support/api.ts";
import { chargeMessages, settle } from "../support/books.ts";
import { invoice, reverseCharge } from "../support/invoices.ts";
import { auditLog, jsonOf, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { dayShardOf, keyOfEntry } from "../support/organization-shards.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { inAllShards } from "../support/shards.ts";

const operated = useOperatedGateway();
const { register } = operated;

afterEach(() => {
  vi.useRealTimers();
});

function at(moment: string): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(moment) });
}

type Row = Readonly<Record<string, string>>;

async function rowsOf(folder: string, file: string): Promise<Row[]> {
  const [heading = "", ...lines] = (await readFile(path.join(folder, file), "utf8")).trimEnd().split("\r\n");
  return lines.map((line) => {
    const cells = line.split(",").map((cell) => cell.replace(/^"(.*)"$/, "$1"));
    return Object.fromEntries(heading.split(",").map((name, index) => [name, cells[index] ?? ""]));
  });
}

/** Adds up a column exactly. */
function sumOf(rows: readonly Row[], column: string): bigint {
  return rows.reduce((sum, row) => sum + BigInt((row[column] ?? "").replace(".", "")), 0n);
}

it("the exported books of a closed month add up to the ledger", async () => {
  const [one, other] = [await register(), await register()];
  const folder = path.join(operated.dataFolder, "books");
  const exported = `books export 2021-03 --to ${folder}`;
  at("2021-03-10T12:00:00.000Z");
  expect(await rejectionOf(exported)).toBe(
    "The books of 2021-03 are not closed. Run books close 2021-03 first.",
  );
  const credit = ({ email }: Customer, reference: string) =>
    outputOf(`wallets credit ${email} 100 --type payment --reason Transfer --reference ${reference}`);
  await credit(one, "=bank-1");
  await credit(other, "bank-2");
  const Listed = z.object({ id: z.string() });
  const [{ id: paymentId } = { id: "" }] = await jsonOf(`payments list --organization ${one.email}`, Listed);
  const key = { organizationId: one.organizationId, paymentId };
  // The worker of payments would note these.
  const noted = { feeMicros: 1_750_000, feeAt: "2021-03-11T12:00:00.000Z", invoiceNumber: "INV-2021-000001" };
  await putItem(
    putUnchecked(keys.payment(one.organizationId, paymentId), { ...(await findPayment(key)), ...noted }),
  );
  const document = invoice({ ...key, number: "INV-2021-000001", issuedAt: "2021-03-10T12:00:00.000Z" });
  const buyer = { name: "Zoë; Ltd", country: "AT", vatNumber: "ATU12345678" };
  await putItem(
    putOf(keys.invoice(one.organizationId, document.number), { ...document, ...reverseCharge, buyer }),
  );
  await operator(`payments refund ${paymentId} --amount 10 --reason 'Paid twice'`);
  const message = { segments: 2, at: "2021-03-12T12:00:00.000Z" };
  await chargeMessages(one.organizationId, { ...message, amountMicros: 7_901, country: "GB" });
  await chargeMessages(one.organizationId, { ...message, amountMicros: 3 });
  await operator(`wallets debit ${other.email} 150.000001 --type chargeback --reason x --reference dp`);
  at("2021-04-02T00:00:00.000Z");
  for (const { organizationId } of [one, other]) await settle(organizationId);
  await inAllShards(closeDays);
  const costs = {
    ...noMessages,
    messages: 1,
    segments: 2,
    revenueMicros: 7_901,
    costMicros: 5_001,
    messagesWithoutCost: 0,
  };
  const margin = { ...costs, country: "GB", carrier: "aws" };
  await writeFigures(dayShardOf(one.organizationId, "2021-03-13"), { ...noFigures, margins: [margin] }, true);

  // A script has lowered a charge that is in the ledger.
  const list = { pk: ledgerOf(withAllShards(one.organizationId)), consistent: true };
  for await (const entry of itemsIn(LedgerEntryRecord, list)) {
    const lowered = { ...entry, amountMicros: entry.amountMicros + 100 };
    if (entry.amountMicros !== -7_901) continue;
    await putItem(putOf(keyOfEntry(one.organizationId, entry.seq), lowered));
  }
  // The function has the time of this machine.
  vi.useRealTimers();
  const close = "books close 2021-03";
  const place = `${one.organizationId}:3`;
  expect(await rejectionOf(close)).toMatch(
    /^2021-03 is closed for 1 customers, and not for 1: The ledger of \w+ does not add up at seq 3/,
  );
  expect(await rejectionOf(`${close} --accept ${place}`)).toBe("--accept needs a --reason.");
  await rejectionOf(`${close} --accept 3 --reason x`, 2);
  const closed = await outputOf(`${close} --accept ${place} --reason 'Ticket 1'`);
  expect(await auditLog("books close")).toContainEqual(
    expect.objectContaining({ subject: { accept: place, reason: "Ticket 1", month: "2021-03" } }),
  );
  expect(closed).toMatch(/^Closing balances +39\.992095 USD$/m);
  expect(closed).toMatch(/^Liability \(prepaid balances\) +89\.992096 USD$/m);
  expect(await rejectionOf(close)).toMatch(/^2021-03 was closed at \S+ by local operator\.$/);
  const [listed] = await jsonOf(
    "books list --months 600",
    z.looseObject({ month: z.string(), status: z.string() }),
  );
  expect(listed).toMatchObject({ month: "2021-03", status: "closed", closedBy: "local operator" });
  await outputOf(exported);
  expect(await rejectionOf(exported)).toContain("Cannot create the folder");
  expect(await readdir(folder)).toHaveLength(4);

  const files = ["customers.csv", "countries.csv", "payments.csv", "total.csv"];
  const rowsOfFiles = await Promise.all(files.map(async (file) => rowsOf(folder, file)));
  const [customers = [], countries = [], payments = [], totals = []] = rowsOfFiles;
  const inLedger = new Map<string, bigint>();
  for (const { organizationId } of [one, other]) {
    const pk = ledgerOf(withAllShards(organizationId));
    for await (const { type, amountMicros } of itemsIn(LedgerEntryRecord, { pk })) {
      inLedger.set(type, (inLedger.get(type) ?? 0n) + BigInt(amountMicros));
    }
  }
  expect([...inLedger.keys()].toSorted()).toEqual(["chargeback", "message", "payment", "payment_refund"]);
  let inBooks = sumOf(totals, "unexplained");
  expect(inBooks).toBe(-100n);
  for (const [type, micros] of inLedger) {
    expect(sumOf(customers, type)).toBe(micros);
    expect(sumOf(totals, type)).toBe(micros);
    const ofType = payments.filter(({ kind }) => kind === type);
    expect(type === "message" ? -sumOf(countries, "revenue") : sumOf(ofType, "amount")).toBe(micros);
    inBooks += micros;
  }
  expect(sumOf(customers, "closing")).toBe(inBooks);
  expect(new Set(customers.map((row) => row["unexplained_reason"]))).toEqual(new Set(["", "Ticket 1"]));
  expect(sumOf(countries, "cost")).toBe(5_001n);
  expect(sumOf(customers, "margin")).toBe(7_804n - 5_001n);
  expect(sumOf(payments, "fee")).toBe(1_750_000n);
  expect(payments).toContainEqual(
    expect.objectContaining({
      kind: "payment",
      organization: one.organizationId,
      name: "Zoë; Ltd",
      country: "AT",
      vat_number: "ATU12345678",
      tax_rate: "0",
      reverse_charge: "yes",
      payment: paymentId,
      reference: "'=bank-1",
      amount: "100.000000",
      tax: "20.000000",
      total: "120.000000",
      document: "INV-2021-000001",
      currency: "USD",
    }),
  );
  expect(payments).toContainEqual(
    expect.objectContaining({ kind: "payment_refund", amount: "-10.000000", total: "-12.000000" }),
  );
  expect(payments).toContainEqual(
    expect.objectContaining({ kind: "fee", name: "Zoë; Ltd", document: "", reverse_charge: "yes" }),
  );
  expect(payments).toContainEqual(
    expect.objectContaining({ kind: "chargeback", reference: "dp", total: "", tax_rate: "" }),
  );
  const names = await Promise.all(
    [one, other].map(async (each) => (await findOrganization(each.organizationId))?.name),
  );
  expect(customers.map(({ name }) => name)).toEqual(names);
  expect(totals).toEqual([
    expect.objectContaining({
      month: "2021-03",
      liability: "89.992096",
      owed_by_customers: "50.000001",
      organizations: "2",
    }),
  ]);
});
