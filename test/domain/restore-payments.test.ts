import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { BillingDetails } from "../../shared/api/contract/billing.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { advanceNumbers, findDocument } from "../../shared/money/invoices/record.ts";
import { adoptPayment, lostPayment } from "../../shared/money/payments/adopt.ts";
import { saveBillingDetails } from "../../shared/money/payments/billing-details.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { addPaymentMethod } from "../../shared/money/payments/methods.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import type { ListedPayment } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { findDifferences } from "../../shared/money/payments/reconcile.ts";
import { paymentsOf, readPayment, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { requestRecharge } from "../../shared/money/wallet/recharge.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { config, environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { pause, resume } from "../../shared/platform/jobs/pause.ts";
import { restorePoint, useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { card, checkout, sendForm, startStripe, type TestStripe } from "../support/stripe.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * Rehearses the payments of a restore to an earlier moment, as infra/RUNBOOK.md describes it. Only the table is that
 * of the moment: the provider and the bucket of documents are not restored.
 */

const bucket = new Map<string, Uint8Array>();
vi.mock("../../shared/platform/aws/objects.ts", () => ({
  writeOnce: async ({ Key }: { Key: string }, body: Uint8Array) =>
    void (bucket.has(Key) ? undefined : bucket.set(Key, body)),
  readObject: async ({ Key }: { Key: string }) => bucket.get(Key),
}));
vi.mock("../../shared/money/payments/stripe-client.ts", () => ({
  connection: async () => ({ stripe: stripe.client, webhookSecret: "whsec_test" }),
}));

const settings = {
  cards: "stripe",
  seller: { name: "Example SMS Ltd", address: ["1 Sample Street"], country: "DE" },
  tax: { rates: { DE: 20, FR: 20 }, reverseCharge: ["FR"] },
};
let stripe: TestStripe;

beforeEach(async () => {
  await useOwnTable();
  bucket.clear();
  stripe = await startStripe();
  vi.stubEnv(environmentNames.documentsBucket, "documents");
  vi.stubEnv(environmentNames.stage, "prod");
  vi.stubEnv(environmentNames.apiUrl, "https://api.example.com");
  vi.spyOn(config, "payments").mockReturnValue(JSON.stringify(settings));
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  for (const queue of ["emails", "payments"] as const) await takeJobs(queue);
});

/** Pays at a checkout, and processes the event. */
async function pay(organizationId: string, amount: number): Promise<PaymentRecord> {
  const { id: paymentId, checkoutUrl = "" } = await createPayment(organizationId, {
    method: "card",
    saveCard: false,
    amount,
  });
  await sendForm(checkoutUrl, card);
  await workOnPayment({ kind: "payment", organizationId, paymentId });
  return readPayment({ organizationId, paymentId });
}

/** Opens a wallet that is recharged with 50 below 20. */
async function openRecharged(): Promise<string> {
  const organizationId = await openWallet(25_000_000);
  const { checkoutUrl } = await addPaymentMethod(organizationId, {});
  await sendForm(checkoutUrl, card);
  await setAutoRecharge(organizationId, { isEnabled: true, threshold: 20, amount: 50, monthlyCap: 200 });
  return organizationId;
}

/** Spends 10, after which a recharge may start. */
async function spend(organizationId: string): Promise<void> {
  await postToWallet({ organizationId, type: "correction", amountMicros: -10_000_000 });
  await requestRecharge(await readWallet(organizationId));
}

async function work(): Promise<void> {
  for (const job of await takeJobs("payments")) await workOnPayment(PaymentJob.parse(job));
}

async function paymentsIn(organizationId: string): Promise<PaymentRecord[]> {
  const payments: PaymentRecord[] = [];
  for await (const payment of paymentsOf(organizationId)) payments.push(payment);
  return payments;
}

async function differences(): Promise<Record<string, string>> {
  const found = await findDifferences(new Date(Date.now() - dayMs));
  return Object.fromEntries(
    found.map(({ providerPaymentId = "", difference }) => [providerPaymentId, difference]),
  );
}

async function balanceOf(organizationId: string): Promise<number> {
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
  return (await readWallet(organizationId)).balanceMicros;
}

const pdfs = (): string[] => [...bucket.keys()].filter((key) => key.endsWith(".pdf")).toSorted();

it("payments after the moment are credited once, no card is charged again, and documents keep their numbers", async () => {
  const [one, two, three] = [await openRecharged(), await openWallet(0), await openWallet(0)];
  const early = await pay(two, 10);
  const useRestored = await restorePoint();

  await spend(one);
  await work();
  const [recharge] = await paymentsIn(one);
  expect(recharge).toMatchObject({ status: "succeeded", amountMicros: 50_000_000, origin: "auto_recharge" });
  const late = await pay(two, 20);
  const earlyKey = { organizationId: two, paymentId: early.id };
  await recordRefund(earlyKey, { id: "rfd_1", amountMicros: 4_000_000, reason: "Paid twice" });
  await workOnPayment({ kind: "payment", ...earlyKey });
  const [before] = (await readPayment(earlyKey)).refunds;
  expect(before).toMatchObject({
    status: "succeeded",
    creditNote: expect.stringMatching(/^CRN-\d+-000001$/),
  });
  const documents = pdfs();
  expect(documents).toHaveLength(4);

  useRestored();
  await pause("payments", "Restore");
  // The balance is below the threshold again.
  await spend(one);
  const [job] = await takeJobs("payments");
  const sent = vi.spyOn(Sqs.prototype, "send").mockResolvedValue({});
  await workOnPayment(PaymentJob.parse(job));
  expect(sent).toHaveBeenCalledOnce();
  sent.mockRestore();
  await expect(pay(three, 10)).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
  // The account has payments of other products, of another stage, and of an earlier release.
  const gone = { organizationId: "org_gone", paymentId: "pay_gone" };
  for (const metadata of [
    {},
    { organizationId: "4711", paymentId: "pay_1" },
    { organizationId: two, paymentId: "pay_1", stage: "staging" },
    { ...gone, stage: "staging" },
    gone,
  ]) {
    const other = { ...checkout, payment_intent_data: { metadata } };
    const { url } = await stripe.client.checkout.sessions.create(other);
    await sendForm(url ?? "", card);
  }
  const foreign = ["foreign", "foreign", "foreign", "foreign"];
  const found = await differences();
  const lost = Object.keys(found).filter((id) => found[id] === "lost");
  expect(new Set(lost)).toEqual(new Set([recharge?.providerPaymentId, late.providerPaymentId]));
  expect(Object.values(found).toSorted()).toEqual([...foreign, "lost", "lost", "no organization"]);

  const adopt = async (id: string) => adoptPayment(await lostPayment(id, undefined), id);
  for (const id of lost) {
    expect((await Promise.all([adopt(id), adopt(id)])).toSorted()).toEqual([false, true]);
  }
  await resume("payments");
  await workOnPayment(PaymentJob.parse(job));
  await work();
  for (const organizationId of [one, two]) {
    for (const { id: paymentId } of await paymentsIn(organizationId)) {
      await workOnPayment({ kind: "payment", organizationId, paymentId });
    }
  }
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7 * dayMs });
  for (const id of lost) expect(await adopt(id)).toBe(false);
  vi.useRealTimers();

  expect(await balanceOf(one)).toBe(25_000_000 - 10_000_000 + 50_000_000);
  expect(await balanceOf(two)).toBe(10_000_000 + 20_000_000 - 4_000_000);
  const kept = ({
    id,
    invoiceNumber,
    taxMicros,
    taxRate,
    totalMicros,
    feeMicros,
    origin,
  }: PaymentRecord) => ({
    id,
    invoiceNumber,
    taxMicros,
    taxRate,
    totalMicros,
    feeMicros,
    origin,
  });
  expect((await paymentsIn(one)).map(kept)).toEqual([recharge].flatMap((each) => (each ? [kept(each)] : [])));
  expect((await paymentsIn(two)).map(kept)).toEqual([kept(early), kept(late)]);
  expect(await readBilling(one)).toMatchObject({ rechargedMicros: 50_000_000 });
  const { data: charges } = await stripe.client.paymentIntents.list({ limit: 100 });
  expect(charges.filter(({ metadata }) => metadata["organizationId"] === one)).toHaveLength(1);
  // The refund of the moment after is known again, with its credit note.
  expect((await readPayment(earlyKey)).refunds).toMatchObject([
    { id: "rfd_1", creditNote: before?.creditNote },
  ]);
  expect(await findDocument(two, before?.creditNote ?? "")).toMatchObject({ refundId: "rfd_1" });
  expect(pdfs()).toEqual(documents);
  expect((await pay(three, 10)).invoiceNumber).toMatch(/^INV-\d+-000004$/);
  expect(Object.values(await differences()).toSorted()).toEqual([...foreign, "no organization"]);
});

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
  name: `Claude "${"é".repeat(150)}" 🧾`,
  address: Array.from({ length: 5 }, () => "Rue ".repeat(25)),
  country: "FR",
  vatNumber: "FR12345678901",
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
  const { metadata } = await stripe.client.paymentIntents.retrieve(id);
  for (const value of Object.values(metadata)) expect(value.length).toBeLessThanOrEqual(500);
});

it.each([
  ["misses", {}],
  ["has only a part of", { buyer0: '{"name":' }],
])("a payment whose metadata %s the buyer is adopted only with the tax of the payment", async (_, parts) => {
  const organizationId = await openWallet(0);
  const id = await loseWithBuyer(organizationId, abroad);
  const intent = await stripe.client.paymentIntents.retrieve(id);
  const kept = Object.entries(intent.metadata).filter(([name]) => !name.startsWith("buyer"));
  const metadata = { ...Object.fromEntries(kept), ...parts };
  vi.spyOn(stripe.client.paymentIntents, "retrieve").mockResolvedValue({ ...intent, metadata });
  await expect(lostPayment(id, undefined)).rejects.toThrow(
    /^The tax of the payment was 0 % \(Reverse charge.*have another one: 20 % \(no note\). Let the customer/,
  );
  await saveBillingDetails(organizationId, abroad);
  expect((await lostPayment(id, undefined)).buyer).toMatchObject({ name: abroad.name });
});

it("a transfer that is entered again after a restore has its documents again, unless its amount differs", async () => {
  const organizationId = await openWallet(0);
  const year = new Date().getUTCFullYear();
  const [useRestored, useOther] = [await restorePoint(), await restorePoint()];
  const enter = async (amountMicros: number): Promise<PaymentRecord | undefined> => {
    const transfer = { organizationId, amountMicros, reference: "bank-4711", reason: "Transfer" };
    const key = await recordTransfer(transfer);
    if (key === undefined) return undefined;
    await processPayment(key);
    await recordRefund(key, { id: "rfd_2", amountMicros: 10_000_000, reason: "Refund" });
    return processPayment(key);
  };
  const numbers = [`INV-${year}-000001`, `CRN-${year}-000001`];
  const before = await enter(50_000_000);
  expect([before?.invoiceNumber, before?.refunds[0]?.creditNote]).toEqual(numbers);
  const documents = pdfs();

  useRestored();
  const after = await enter(50_000_000);
  expect(after?.id).not.toBe(before?.id);
  expect([after?.invoiceNumber, after?.refunds[0]?.creditNote]).toEqual(numbers);
  for (const number of numbers)
    expect(await findDocument(organizationId, number)).toMatchObject({ paymentId: after?.id });
  expect(pdfs()).toEqual(documents);

  useOther();
  expect((await enter(40_000_000))?.invoiceNumber).toBe(`INV-${year}-000002`);
});

it("numbers continue after those of documents that only the bucket has", async () => {
  const organizationId = await openWallet(0);
  const year = new Date().getUTCFullYear();
  const invoiced = async (): Promise<string | undefined> => {
    const transfer = {
      organizationId,
      amountMicros: 10_000_000,
      reference: newId("txn"),
      reason: "Transfer",
    };
    const key = await recordTransfer(transfer);
    return key === undefined ? undefined : (await processPayment(key))?.invoiceNumber;
  };
  expect(await advanceNumbers(`INV-${year}-000007`)).toBe(`INV-${year}-000008`);
  expect(await advanceNumbers(`INV-${year}-000003`)).toBe(`INV-${year}-000008`);
  expect(await advanceNumbers(`CRN-${year}-000001`)).toBe(`CRN-${year}-000002`);
  expect(await invoiced()).toBe(`INV-${year}-000008`);
  // Without the command, an existing document of the organization is noticed too, and so is one with the number of another.
  bucket.set(`${organizationId}/INV-${year}-000009.pdf`, Buffer.from("kept"));
  bucket.set(`numbers/INV-${year}-000010.json`, Buffer.from("{}"));
  expect(await invoiced()).toBe(`INV-${year}-000011`);
  expect(await invoiced()).toBe(`INV-${year}-000012`);
  // A search that a time-out ends continues where it was.
  const get = vi.spyOn(bucket, "get");
  const found = Buffer.from("{}");
  get.mockImplementation((key) => {
    if (key.includes("-000015")) throw new Error("the time is over");
    return key.startsWith("numbers/") ? found : undefined;
  });
  await expect(invoiced()).rejects.toThrow("the time is over");
  get.mockImplementation((key) => {
    if (/-00001[34]/.test(key)) throw new Error("it begins again");
    return key === `numbers/INV-${year}-000015.json` ? found : undefined;
  });
  expect(await invoiced()).toBe(`INV-${year}-000016`);
});
