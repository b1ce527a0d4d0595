import { beforeEach, expect, it, vi } from "vitest";

import type { BillingDetails } from "../../shared/api/contract/billing.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import { findDocument, type DocumentRecord } from "../../shared/money/invoices/record.ts";
import type * as storage from "../../shared/money/invoices/storage.ts";
import { saveBillingDetails } from "../../shared/money/payments/billing-details.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { createPayment, newPayment } from "../../shared/money/payments/create.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { paymentPut, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { setPayments } from "../support/stored-payments.ts";
import { openOrganization } from "../support/wallets.ts";

vi.mock("../../shared/money/invoices/storage.ts", () => ({
  storeDocument: vi.fn<typeof storage.storeDocument>(),
  findStored: async () => undefined,
  isNumberStored: async () => false,
}));

const settings = {
  bankTransfer: "Pay to our account.",
  seller: { name: "Example GmbH", address: ["Weg 1"], country: "DE", vatNumber: "DE123456789" },
  tax: { rates: { DE: 19, FR: 20 }, reverseCharge: ["FR"] },
};
const abroad: BillingDetails = {
  name: "Claude",
  address: ["Rue 2"],
  country: "FR",
  vatNumber: "FR40303265045",
};
const atHome: BillingDetails = { name: "Klaus", country: "DE" };
const amountMicros = 50_000_000;

beforeEach(() => {
  setPayments(settings);
});

/** Announces a bank transfer. */
async function announce(organizationId: string, fields: Partial<PaymentRecord> = {}): Promise<string> {
  const billing = await readBilling(organizationId);
  const method = { method: "bank_transfer", origin: "checkout" } as const;
  const payment = { ...newPayment({ organizationId, ...method, amountMicros, billing }), ...fields };
  await transact({ payment: paymentPut(payment) });
  return payment.id;
}

/** The operator records a transfer. @returns its invoice */
async function receive(organizationId: string, paymentId?: string): Promise<DocumentRecord | undefined> {
  const reference = `bank-${organizationId}`;
  const transfer = { organizationId, amountMicros, reference, reason: "Bank transfer", paymentId };
  const key = await recordTransfer(transfer);
  const paid = key === undefined ? undefined : await processPayment(key);
  return findDocument(organizationId, paid?.invoiceNumber ?? "");
}

it("an invoice and its credit note name the buyer whose tax was charged", async () => {
  const organizationId = await openOrganization(0);
  await saveBillingDetails(organizationId, { ...abroad, emails: { payments: ["billing"] } });
  const paymentId = await announce(organizationId);
  await saveBillingDetails(organizationId, atHome);
  const invoice = await receive(organizationId, paymentId);
  expect(invoice).toMatchObject({ taxRate: 0, taxNote: expect.stringMatching(/^Reverse charge/) });
  expect(invoice?.buyer).toEqual(abroad);

  const key = { organizationId, paymentId };
  await recordRefund(key, { id: "rfd_1", amountMicros: 10_000_000, reason: "Refund" });
  const creditNote = (await processPayment(key))?.refunds[0]?.creditNote ?? "";
  expect((await findDocument(organizationId, creditNote))?.buyer).toEqual(abroad);
});

it("without details, the name of the organization has to be one that invoices can show", async () => {
  setPayments({ ...settings, cards: "stripe" });
  const organizationId = await openOrganization(0, { name: "Café 🌸" });
  const message = "has a character that invoices cannot show: 🌸 (U+1F338)";
  const problem = { code: "VALIDATION_ERROR", details: [{ path: "billing.name", message }] };
  const payment = { method: "bank_transfer", amount: 50, saveCard: false } as const;
  await expect(createPayment(organizationId, payment)).rejects.toMatchObject(problem);
  const recharge = { isEnabled: true, threshold: 1, amount: 50, monthlyCap: 100 };
  await expect(setAutoRecharge(organizationId, recharge)).rejects.toMatchObject(problem);

  // An earlier release accepted details that are rejected now.
  await expect(saveBillingDetails(organizationId, { name: "A\u202eB" })).rejects.toThrow(ApiError);
  const set = { entity: "billing", organizationId, details: { name: "\u3164" } };
  await transact({ billing: updateOf(keys.billing(organizationId), { set }) });
  await expect(createPayment(organizationId, payment)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

it("details that are entered after a payment began are not on its invoice", async () => {
  const organizationId = await openOrganization(0);
  const paymentId = await announce(organizationId);
  await saveBillingDetails(organizationId, abroad);
  const invoice = await receive(organizationId, paymentId);
  expect(invoice).toMatchObject({ taxRate: 19, buyer: { name: "ACME" } });
  expect(invoice?.buyer).toEqual({ name: "ACME" });
});

it("a transfer that was not announced has the present buyer", async () => {
  const organizationId = await openOrganization(0);
  await saveBillingDetails(organizationId, atHome);
  expect((await receive(organizationId))?.buyer).toEqual(atHome);
});

it("a payment of an older release has the present buyer, and its credit note that of the invoice", async () => {
  const organizationId = await openOrganization(0);
  const paymentId = await announce(organizationId, { buyer: undefined });
  await saveBillingDetails(organizationId, atHome);
  expect((await receive(organizationId, paymentId))?.buyer).toEqual(atHome);

  await saveBillingDetails(organizationId, abroad);
  const key = { organizationId, paymentId };
  await recordRefund(key, { id: "rfd_2", reason: "Refund" });
  const creditNote = (await processPayment(key))?.refunds[0]?.creditNote ?? "";
  expect((await findDocument(organizationId, creditNote))?.buyer).toEqual(atHome);
});

it("numbers follow the years of the seller's zone, and a credit note has the exchange rate of its invoice", async () => {
  const seller = { ...settings.seller, country: "GB", timeZone: "Europe/Berlin" };
  const useRate = (rate: string): void =>
    setPayments({ ...settings, seller, tax: { rates: { GB: 20 }, exchangeRates: { "2091-01": rate } } });
  vi.useFakeTimers({ toFake: ["Date"] });
  useRate("0.7812");
  const issued = [];
  for (const at of ["2090-12-31T22:30:00Z", "2090-12-31T23:30:00Z", "2091-01-01T00:30:00Z"]) {
    vi.setSystemTime(at);
    issued.push(await receive(await openOrganization(0)));
  }
  const amounts = issued.map((each) => [each?.number, each?.localTax?.micros]);
  const [before, first, second] = ["INV-2090-000001", "INV-2091-000001", "INV-2091-000002"];
  expect(amounts).toEqual([
    [before, undefined],
    [first, 7_810_000],
    [second, 7_810_000],
  ]);
  useRate("0.9");
  const { organizationId = "", paymentId = "" } = issued[1] ?? {};
  const key = { organizationId, paymentId };
  await recordRefund(key, { id: "rfd_3", amountMicros: 10_000_000, reason: "Refund" });
  const creditNote = (await processPayment(key))?.refunds[0]?.creditNote ?? "";
  expect((await findDocument(organizationId, creditNote))?.localTax?.micros).toBe(1_560_000);
  vi.useRealTimers();
});

it("payments at the same time get invoices with consecutive numbers", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2092-03-01T12:00:00Z") });
  const organizations = await Promise.all(Array.from({ length: 4 }, async () => openOrganization(0)));
  const issued = await Promise.all(organizations.map(async (each) => receive(each)));
  vi.useRealTimers();
  const numbers = [1, 2, 3, 4].map((each) => `INV-2092-00000${each}`);
  expect(new Set(issued.map((each) => each?.number))).toEqual(new Set(numbers));
});
