import { beforeEach, expect, it, vi } from "vitest";

import { noticeOf, paymentsCompared } from "../../shared/figures/operators/record.ts";
import { countReviews, operatorsText, readDisputed } from "../../shared/figures/operators/report.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import type { ProviderDispute } from "../../shared/money/payments/provider.ts";
import { paymentPut, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { minorUnitsOf } from "../../shared/money/wallet/money.ts";
import type { OperatorNotice } from "../../shared/notices/emails/email-kinds.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { closeReview, openReview } from "../../shared/tenancy/reviews.ts";
import { advance } from "../support/clock.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { setPayments } from "../support/stored-payments.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(async () => {
  vi.setSystemTime("2031-03-03T05:00:00Z");
  await useOwnTable();
  setPayments();
});

const daily = { what: "daily" } as const;

async function linesOf(notice: OperatorNotice): Promise<readonly string[]> {
  return (await operatorsText(notice))?.paragraphs ?? [];
}

/** Lets the provider report a dispute of a new payment, or of a given one. */
async function dispute(
  fields: Pick<ProviderDispute, "dueAt" | "status">,
  known?: PaymentRecord,
): Promise<PaymentRecord> {
  const organizationId = known?.organizationId ?? (await openWallet(0));
  const billing = await readBilling(organizationId);
  const order = {
    organizationId,
    billing,
    method: "card",
    origin: "checkout",
    amountMicros: 5_000_000,
  } as const;
  const payment = known ?? { ...newPayment(order), providerSessionId: "cs_1" };
  if (known === undefined) await transact({ payment: paymentPut(payment) });
  const { id, currency, totalMicros } = payment;
  const minorUnits = minorUnitsOf(totalMicros);
  const ofPayment = { id: `dp_${id}`, minorUnits, feeMinorUnits: 0, reason: "fraudulent", ...fields };
  const paid = { id: `pi_${id}`, minorUnits, currency, feeMinorUnits: 175, refunds: [] };
  vi.spyOn(stripeProvider, "read").mockResolvedValue({ status: "succeeded", ...paid, disputes: [ofPayment] });
  await processPayment({ organizationId, paymentId: id });
  return payment;
}

it("a dispute is emailed to the operators once, and is in the email of each day until it ends", async () => {
  const late = await dispute({ status: "open", dueAt: "2031-03-20T00:00:00Z" });
  const soon = await dispute({ status: "open", dueAt: "2031-03-10T00:00:00Z" });
  await dispute({ status: "open", dueAt: "2031-03-10T00:00:00Z" }, soon);
  const ofOperators = (await takeJobs("emails")).filter((job) => Object(job).kind === "operators");
  const notices = [late, soon].map(({ organizationId, id: paymentId }) => ({
    kind: "operators",
    id: `dp_${paymentId}-opened`,
    notice: { what: "disputeOpened", organizationId, paymentId },
  }));
  expect(ofOperators).toEqual(notices);
  const line = ({ organizationId, id }: PaymentRecord, due: string): string =>
    `${organizationId} ${id}: 5.000000 USD, fraudulent, evidence due ${due}`;
  const title = "Open disputes (payments list --disputed):";
  const ofSoon = { what: "disputeOpened", organizationId: soon.organizationId, paymentId: soon.id } as const;
  expect(await linesOf(ofSoon)).toEqual([line(soon, "2031-03-10T00:00:00Z")]);
  expect(await linesOf(daily)).toEqual([
    title,
    line(soon, "2031-03-10T00:00:00Z"),
    line(late, "2031-03-20T00:00:00Z"),
  ]);
  expect((await readDisputed()).map(({ id }) => id)).toEqual([soon.id, late.id]);
  await dispute({ status: "won", dueAt: undefined }, soon);
  expect(await linesOf(ofSoon)).toEqual([]);
  expect(await linesOf(daily)).toEqual([title, line(late, "2031-03-20T00:00:00Z")]);
});

it("reviews that wait are counted with the age of the oldest, and decided ones are not", async () => {
  const ids = [newId("kyc"), newId("kyc")];
  for (const id of ids) await transact({ review: openReview("kyc", id, "org_1") });
  advance(26 * hourMs);
  await transact({ review: openReview("sender-ids", newId("sid"), "org_1") });
  expect(await linesOf(daily)).toEqual([
    "Reviews that wait (kyc list, sender-ids list):",
    "kyc: 2, the oldest for 26 h",
    "sender-ids: 1, the oldest for 0 h",
  ]);
  for (const id of ids) await transact({ review: closeReview("kyc", id) });
  expect(await countReviews("kyc")).toMatchObject({ count: 0 });
});

it("notices are in the email of the day after them, however late it is, and a repeated one is there once", async () => {
  vi.setSystemTime("2031-03-03T07:05:00Z");
  for (let repeated = 0; repeated < 2; repeated += 1) {
    const { key, record } = noticeOf({
      what: "recharge failed",
      organizationId: "org_1",
      paymentId: "pay_1",
    });
    await putItem(putOf(key, record));
  }
  // A comparison is no news.
  for (const fields of [
    { what: paymentsCompared },
    { what: "carrier.failing", carrier: "acme", share: 0.5, usualShare: 0.98 },
  ]) {
    const { key, record } = noticeOf(fields);
    await putItem(putOf(key, record));
  }
  vi.setSystemTime("2031-03-04T07:55:00Z");
  const title = "New since yesterday (organizations unusual, payments show, deliveries):";
  expect(await linesOf(daily)).toEqual([
    title,
    "carrier.failing acme all countries: 50.0 %, usual 98.0 %",
    "recharge failed org_1 pay_1",
  ]);
  vi.setSystemTime("2031-03-05T07:00:00Z");
  expect(await linesOf(daily)).toEqual([]);
});
