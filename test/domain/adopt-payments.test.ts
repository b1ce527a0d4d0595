import { beforeEach, expect, it, vi } from "vitest";

import type { BillingDetails } from "../../shared/api/contract/billing.ts";
import { findDocument } from "../../shared/money/invoices/record.ts";
import { adoptPayment, lostPayment } from "../../shared/money/payments/adopt.ts";
import { saveBillingDetails } from "../../shared/money/payments/billing-details.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import type { ListedPayment } from "../../shared/money/payments/provider.ts";
import { readPayment } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { stripe } from "../support/connected-stripe.ts";
import { balanceOf, differences } from "../support/lost-payments.ts";
import { restorePoint } from "../support/own-table.ts";
import { openRehearsal } from "../support/payment-rehearsal.ts";
import { card, sendForm } from "../support/stripe.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * Rehearses the payments of a restore to an earlier moment, as infra/RUNBOOK.md describes it. Only the table is that
 * of the moment: the provider and the bucket of documents are not restored.
 */

vi.mock("../../shared/platform/aws/objects.ts", async () => import("../support/memory-objects.ts"));
vi.mock("../../shared/money/payments/stripe-client.ts", async () => import("../support/connected-stripe.ts"));

beforeEach(openRehearsal);

it("a payment of an earlier release is adopted with its amount by hand, which has to agree with its total", async () => {
  const organizationId = await openWallet(0);
  const listed: ListedPayment = {
    providerPaymentId: "pi_old",
    organizationId,
    paymentId: "pay_01M7Y6EJCCCYF8FQN69JCEXBCE",
    isSuccessful: true,
    minorUnits: 6_000,
    currency: "USD",
    createdAt: "2031-01-01T00:00:00.000Z",
    origin: "checkout",
  };
  const identify = vi.spyOn(stripeProvider, "identify").mockResolvedValue(listed);
  await expect(lostPayment("pi_old", undefined)).rejects.toThrow(
    "paid 60.000000 USD in total. State the amount",
  );
  await expect(lostPayment("pi_old", 60_000_000)).rejects.toThrow("the amount has a total of 72.000000 USD");
  const payment = await lostPayment("pi_old", 50_000_000);
  expect(payment).toMatchObject({ taxMicros: 10_000_000, taxRate: 20, createdAt: listed.createdAt });
  expect(await adoptPayment(payment, "pi_old")).toBe(true);
  expect(await balanceOf(organizationId)).toBe(50_000_000);
  // A payment that still has its record is not lost.
  await expect(adoptPayment(payment, "pi_other")).rejects.toThrow("has its record");
  // An operator has credited it by hand.
  const second = { ...payment, id: "pay_01M7Y6EJCCCYF8FQN69JCEXBCF" };
  await expect(adoptPayment({ ...second, amountMicros: 1_000_000 }, "pi_old")).rejects.toThrow(
    "belongs to another",
  );
  expect(await balanceOf(organizationId)).toBe(50_000_000);
  for (const [changes, problem] of [
    [{ isSuccessful: false }, "did not succeed"],
    [{ organizationId: "org_unknown" }, "This stage did not make"],
    [{ stage: "staging" }, "This stage did not make"],
    [{ organizationId: "org_unknown", stage: "prod" }, "There is no organization org_unknown"],
    [{ currency: "EUR" }, "It is a payment in EUR"],
  ] as const) {
    identify.mockResolvedValue({ ...listed, ...changes });
    await expect(lostPayment("pi_old", 50_000_000)).rejects.toThrow(problem);
  }
});

/** Pays after the moment with other billing details than those of the moment, and restores the table. */
async function loseWithBuyer(organizationId: string, buyer: BillingDetails): Promise<string> {
  await saveBillingDetails(organizationId, { name: "Klaus", country: "DE" });
  const useRestored = await restorePoint();
  await saveBillingDetails(organizationId, buyer);
  const request = { method: "card", saveCard: false, amount: 50 } as const;
  const { checkoutUrl = "" } = await createPayment(organizationId, request);
  await sendForm(checkoutUrl, card);
  useRestored();
  const [id = ""] = Object.keys(await differences());
  return id;
}

const abroad: BillingDetails = {
  // As text the buyer has more than 500 characters.
  name: `Claude "${"é".repeat(150)}" 𠮷`,
  address: Array.from({ length: 5 }, () => "Rue ".repeat(25)),
  country: "FR",
  vatNumber: "FR40303265045",
  emails: { payments: ["billing"] },
};

it("an adopted payment names the buyer whose tax was charged, not that of the restored details", async () => {
  const organizationId = await openWallet(0);
  const id = await loseWithBuyer(organizationId, abroad);
  const payment = await lostPayment(id, undefined);
  expect(await adoptPayment(payment, id)).toBe(true);
  await workOnPayment({ kind: "payment", organizationId, paymentId: payment.id });
  const { invoiceNumber = "" } = await readPayment({ organizationId, paymentId: payment.id });
  const { emails: _emails, ...buyer } = abroad;
  const note = expect.stringMatching(/^Reverse charge/);
  expect(await findDocument(organizationId, invoiceNumber)).toMatchObject({ taxRate: 0, taxNote: note });
  expect((await findDocument(organizationId, invoiceNumber))?.buyer).toEqual(buyer);
  const { metadata } = await stripe().client.paymentIntents.retrieve(id);
  for (const value of Object.values(metadata)) expect(value.length).toBeLessThanOrEqual(500);
});

it.each([
  ["misses", {}],
  ["has only a part of", { buyer0: '{"name":' }],
])("a payment whose metadata %s the buyer is adopted only with the tax of the payment", async (_, parts) => {
  const organizationId = await openWallet(0);
  const id = await loseWithBuyer(organizationId, abroad);
  const intent = await stripe().client.paymentIntents.retrieve(id);
  const kept = Object.entries(intent.metadata).filter(([name]) => !name.startsWith("buyer"));
  const metadata = { ...Object.fromEntries(kept), ...parts };
  vi.spyOn(stripe().client.paymentIntents, "retrieve").mockResolvedValue({ ...intent, metadata });
  await expect(lostPayment(id, undefined)).rejects.toThrow(
    /^The tax of the payment was 0 % \(Reverse charge.*have another one: 20 % \(no note\). Let the customer/,
  );
  await saveBillingDetails(organizationId, abroad);
  expect((await lostPayment(id, undefined)).buyer).toMatchObject({ name: abroad.name });
});
