import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { Webhooks } from "../../infra/local/stripe/webhooks.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import type { Invoice } from "../../shared/api/contract/billing.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { readPayment, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { dayMs, hourMs, minuteMs, now } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { Customer, errorOf } from "../support/api.ts";
import { waitForSubject } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { payByCard, saveCardOf } from "../support/payments.ts";
import { card, sendForm } from "../support/stripe.ts";

/* From the customer's request to the ledger and the documents, over the local provider and its events. */

const declined = "4000000000000002";
const authenticated = "4000002760003184";
const declinedLater = "4000000000000341";
const disputed = "4000000000000259";
const refundFails = "4000000000005126";

let gateway: LocalGateway;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway());
  // The settings of the stage, which commands take from its stack.
  await operator(["version"]);
});
afterAll(async () => stop());
afterEach(() => {
  vi.restoreAllMocks();
});

/** A customer who gets emails. */
async function register(): Promise<Customer> {
  const customer = await Customer.register({ baseUrl: gateway.url });
  await noteVerifiedEmail(customer.organizationId);
  return customer;
}

/** The ledger, which has to add up, as types and amounts. */
async function movementsOf(customer: Customer): Promise<[string, number][]> {
  return (await expectLedgerToAddUp(customer)).map(({ type, amount }) => [type, amount]);
}

async function waitForMovements(customer: Customer, expected: [string, number][]): Promise<void> {
  await vi.waitFor(async () => expect(await movementsOf(customer)).toEqual(expected), patience);
}

/** The invoices and credit notes, the first ones first. */
async function documentsOf({ client }: Customer): Promise<Invoice[]> {
  return (await client.listInvoices()).rows.toReversed();
}

/** Acts as the bank or as the owner of the account at the provider. */
async function act(action: "lost" | "refund" | "won", id: string | undefined): Promise<void> {
  await sendForm(`${gateway.stripe?.url}/dashboard`, { action, id: id ?? "" });
}

/** Returns the record of a payment. */
async function recordOf({ organizationId }: Customer, paymentId: string): Promise<PaymentRecord> {
  return readPayment({ organizationId, paymentId });
}

/** Pays at a checkout with a card whose bank requires the cardholder. */
async function authenticate(checkoutUrl: string): Promise<void> {
  const { location = "" } = await sendForm(checkoutUrl, { ...card, number: authenticated });
  expect(location).toMatch(/\/authenticate$/);
  await sendForm(location, { outcome: "complete" });
}

it("a declined card moves nothing, and another one then pays once", async () => {
  const customer = await register();
  const { client } = customer;
  const { id, checkoutUrl = "" } = await client.createPayment({ body: { amount: 50 } });
  await sendForm(checkoutUrl, { ...card, number: declined });
  expect(await client.getPayment({ params: { id } })).toMatchObject({ status: "pending", checkoutUrl });
  expect(await movementsOf(customer)).toEqual([]);
  await sendForm(checkoutUrl, card);
  await waitForMovements(customer, [["payment", 50]]);
  const { text } = await waitForSubject(gateway, customer.email, "Receipt for your payment of $60.00");
  expect(text).toContain(`/console#/payments/${id}`);
  const documents = await documentsOf(customer);
  // The receipt follows the invoice, and names it.
  expect(text).toContain(`Your invoice ${documents[0]?.id} `);
  expect(documents).toMatchObject([{ kind: "invoice", paymentId: id, amount: 50, tax: 10, total: 60 }]);
});

it("a recharge that the bank does not allow without the cardholder is completed by the link in the email", async () => {
  const customer = await register();
  const { client } = customer;
  await authenticate((await client.addPaymentMethod()).checkoutUrl);
  const body = { isEnabled: true, threshold: 20, amount: 50, monthlyCap: 100 };
  const { pendingPaymentId: id = "" } = await client.updateAutoRecharge({ body });
  const email = await waitForSubject(gateway, customer.email, "Confirm a payment of $60.00");
  const { checkoutUrl = "", ...payment } = await client.getPayment({ params: { id } });
  expect(payment).toMatchObject({ status: "pending", failure: "authentication_required" });
  expect(email.text).toContain(checkoutUrl);
  expect(await movementsOf(customer)).toEqual([]);
  await authenticate(checkoutUrl);
  await waitForMovements(customer, [["payment", 50]]);
  expect(await client.getAutoRecharge()).toMatchObject({ isEnabled: true, rechargedThisMonth: 50 });
});

it("a saved card that is declined later fails the payment, which moves nothing", async () => {
  const customer = await register();
  const { client } = customer;
  const { checkoutUrl } = await client.addPaymentMethod();
  await sendForm(checkoutUrl, { ...card, number: declinedLater });
  const [method] = await client.listPaymentMethods();
  const created = await client.createPayment({ body: { amount: 50, paymentMethodId: method?.id } });
  await vi.waitFor(async () => {
    const payment = await client.getPayment({ params: { id: created.id } });
    expect(payment).toMatchObject({ status: "failed", failure: "card_declined" });
  }, patience);
  expect(await movementsOf(customer)).toEqual([]);
  expect(await documentsOf(customer)).toEqual([]);
});

it("a dispute takes the money, blocks sends, and returns it when it is won", async () => {
  const customer = await register();
  const { id } = await payByCard(customer, 50, disputed);
  await waitForMovements(customer, [
    ["payment", 50],
    ["chargeback", -50],
  ]);
  await customer.topUp(5);
  const refund = await operator(["payments", "refund", id, "--reason", "Closed"]);
  expect(refund).toMatchObject({ code: 1, err: expect.stringContaining("The payment is disputed.") });

  const disputes = gateway.stripe?.account.objects.all("dispute") ?? [];
  const { providerPaymentId } = await recordOf(customer, id);
  await act("won", disputes.find(({ payment_intent }) => payment_intent === providerPaymentId)?.id);
  await waitForMovements(customer, [
    ["payment", 50],
    ["chargeback", -50],
    ["top_up", 5],
    ["chargeback", 50],
  ]);
  expect((await customer.client.getPayment({ params: { id } })).dispute).toBe("won");
});

it("a dispute of spent money makes the balance negative, and nothing can be sent until it is paid", async () => {
  const customer = await register();
  const { id } = await payByCard(customer, 50);
  await customer.send();
  const { providerPaymentId } = await recordOf(customer, id);
  const charges = gateway.stripe?.account.objects.all("charge") ?? [];
  const charge = charges.find(({ payment_intent }) => payment_intent === providerPaymentId);
  gateway.stripe?.account.openDispute(charge?.id ?? "");
  await vi.waitFor(async () => {
    expect((await movementsOf(customer)).at(-1)).toEqual(["chargeback", -50]);
  }, patience);
  expect(await customer.balance()).toBeLessThan(0);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "BALANCE_NEGATIVE" });
  await customer.topUp(5);
  await customer.send();
});

it("refunds of the operator and of the provider both leave the wallet, each with a credit note", async () => {
  const customer = await register();
  const { id, invoiceNumber } = await payByCard(customer, 50);
  const command = ["payments", "refund", id, "--amount", "20", "--reason", "Paid too much"];
  expect((await operator(command)).code).toBe(0);
  await runSchedule(gateway, "VisitPayments");
  await vi.waitFor(async () => expect(await documentsOf(customer)).toHaveLength(2), patience);

  await act("refund", (await recordOf(customer, id)).providerPaymentId);
  await waitForMovements(customer, [
    ["payment", 50],
    ["payment_refund", -20],
    ["payment_refund", -30],
  ]);
  const documents = await vi.waitFor(async () => {
    const found = await documentsOf(customer);
    expect(found).toHaveLength(3);
    return found;
  }, patience);
  const [invoice, ...creditNotes] = documents.toSorted((a, b) => b.id.localeCompare(a.id));
  expect(invoice?.id).toBe(invoiceNumber);
  expect(creditNotes.map(({ corrects }) => corrects)).toEqual([invoiceNumber, invoiceNumber]);
  expect(creditNotes.map(({ total }) => Math.abs(total)).toSorted((a, b) => a - b)).toEqual([24, 36]);
  expect((await customer.client.getPayment({ params: { id } })).refunded).toBe(50);
});

it("a refund that the bank rejects returns to the wallet", async () => {
  const customer = await register();
  const { id } = await payByCard(customer, 50, refundFails);
  expect((await operator(["payments", "refund", id, "--reason", "Closed"])).code).toBe(0);
  await runSchedule(gateway, "VisitPayments");
  await waitForMovements(customer, [
    ["payment", 50],
    ["payment_refund", -50],
    ["payment_refund", 50],
  ]);
  expect(await customer.client.getPayment({ params: { id } })).not.toHaveProperty("refunded");
});

it("a payment and a refund whose events get lost are found by the visit and the daily comparison", async () => {
  const sent = vi.spyOn(Webhooks.prototype, "send").mockResolvedValue();
  const customer = await register();
  const { id, checkoutUrl = "" } = await customer.client.createPayment({ body: { amount: 50 } });
  await sendForm(checkoutUrl, card);
  expect(await movementsOf(customer)).toEqual([]);
  gateway.advanceClock(2 * minuteMs);
  await runSchedule(gateway, "VisitPayments");
  expect(await movementsOf(customer)).toEqual([["payment", 50]]);
  expect(await documentsOf(customer)).toHaveLength(1);

  await act("refund", (await recordOf(customer, id)).providerPaymentId);
  await runSchedule(gateway, "ComparePayments");
  expect(await movementsOf(customer)).toEqual([
    ["payment", 50],
    ["payment_refund", -50],
  ]);
  expect(sent.mock.calls.map(([{ type }]) => type)).toEqual(
    expect.arrayContaining(["checkout.session.completed", "refund.created"]),
  );
});

it("a charge and a refund that are repeated after their idempotency keys expired are made once", async () => {
  const customer = await register();
  await saveCardOf(customer);
  const [method] = await customer.client.listPaymentMethods();
  const { id } = await customer.client.createPayment({ body: { amount: 50, paymentMethodId: method?.id } });
  await waitForMovements(customer, [["payment", 50]]);
  const payment = await recordOf(customer, id);
  const { customerId = "" } = await readBilling(customer.organizationId);
  const refund = await stripeProvider.refund(payment, "rfd_1", 1_000);

  gateway.advanceClock(dayMs + hourMs);
  expect(await stripeProvider.charge({ payment, customerId })).toMatchObject({
    status: "succeeded",
    id: payment.providerPaymentId,
  });
  expect(await stripeProvider.refund(payment, "rfd_1", 1_000)).toEqual(refund);
});

it("the millionth invoice of a year has seven digits, and can be read", async () => {
  const year = String(now().getUTCFullYear());
  await transact({
    number: updateOf(keys.invoiceNumber("invoice", year), {
      set: { entity: "invoiceNumber", next: 1_000_000 },
    }),
  });
  const customer = await register();
  const { invoiceNumber: id = "" } = await payByCard(customer, 50);
  expect(id).toBe(`INV-${year}-1000000`);
  expect(await customer.client.getInvoice({ params: { id } })).toMatchObject({ id, amount: 50 });
});
