import { beforeEach, expect, it, vi } from "vitest";

import { advanceNumbers, findDocument } from "../../shared/money/invoices/record.ts";
import { adoptPayment, lostPayment } from "../../shared/money/payments/adopt.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { addPaymentMethod } from "../../shared/money/payments/methods.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { readPayment, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { requestRecharge } from "../../shared/money/wallet/recharge.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { pause, resume } from "../../shared/platform/jobs/pause.ts";
import { advance } from "../support/clock.ts";
import { stripe } from "../support/connected-stripe.ts";
import { balanceOf, differences } from "../support/lost-payments.ts";
import { bucket } from "../support/memory-objects.ts";
import { restorePoint } from "../support/own-table.ts";
import { openRehearsal } from "../support/payment-rehearsal.ts";
import { paymentJobs, paymentsIn, workOnPayments } from "../support/stored-payments.ts";
import { card, checkout, sendForm } from "../support/stripe.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * Rehearses the payments of a restore to an earlier moment, as infra/RUNBOOK.md describes it. Only the table is that
 * of the moment: the provider and the bucket of documents are not restored.
 */

vi.mock("../../shared/platform/aws/objects.ts", async () => import("../support/memory-objects.ts"));
vi.mock("../../shared/money/payments/stripe-client.ts", async () => import("../support/connected-stripe.ts"));

beforeEach(openRehearsal);

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

const pdfs = (): string[] => [...bucket.keys()].filter((key) => key.endsWith(".pdf")).toSorted();

it("payments after the moment are credited once, no card is charged again, and documents keep their numbers", async () => {
  const [one, two, three] = [await openRecharged(), await openWallet(0), await openWallet(0)];
  const early = await pay(two, 10);
  const useRestored = await restorePoint();

  await spend(one);
  await workOnPayments();
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
  const jobs = await paymentJobs();
  const sent = vi.spyOn(Sqs.prototype, "send").mockResolvedValue({});
  for (const job of jobs) await workOnPayment(job);
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
    const { url } = await stripe().client.checkout.sessions.create(other);
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
  for (const job of jobs) await workOnPayment(job);
  await workOnPayments();
  for (const organizationId of [one, two]) {
    for (const { id: paymentId } of await paymentsIn(organizationId)) {
      await workOnPayment({ kind: "payment", organizationId, paymentId });
    }
  }
  advance(7 * dayMs);
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
  }: PaymentRecord) => ({ id, invoiceNumber, taxMicros, taxRate, totalMicros, feeMicros, origin });
  expect((await paymentsIn(one)).map(kept)).toEqual([recharge].flatMap((each) => (each ? [kept(each)] : [])));
  expect((await paymentsIn(two)).map(kept)).toEqual([kept(early), kept(late)]);
  expect(await readBilling(one)).toMatchObject({ rechargedMicros: 50_000_000 });
  const { data: charges } = await stripe().client.paymentIntents.list({ limit: 100 });
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
