import fc from "fast-check";
import { beforeEach, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { billingText } from "../../shared/money/payments/billing-text.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { unpaid, type ProviderPayment } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import * as record from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { amountOf, minorUnitsOf } from "../../shared/money/wallet/money.ts";
import { requestRecharge } from "../../shared/money/wallet/recharge.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { advance } from "../support/clock.ts";
import { priceMicros } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { isNightly } from "../support/second-opinions.ts";
import { haveSavedCards, paymentsIn, setPayments, workOnPayments } from "../support/stored-payments.ts";
import { chargeWallet, openWallet } from "../support/wallets.ts";

vi.mock("../../shared/money/payments/record.ts", async (importOriginal) => {
  const original = await importOriginal<typeof record>();
  return { ...original, findPayment: vi.fn<typeof record.findPayment>(original.findPayment) };
});

const seed = Number(process.env["RECHARGE_SEED"] ?? Date.now() % 2 ** 31);
const cardId = "pm_1";
const minutes = 40;

beforeEach(() => {
  vi.setSystemTime(new Date("2030-06-03T12:00:00Z"));
  setPayments();
  haveSavedCards();
});

/** Charges the wallet for messages of one minute. */
async function send(organizationId: string, count: number): Promise<void> {
  await chargeWallet(organizationId, { micros: Array.from({ length: count }, () => priceMicros) });
}

function chargesStayPending(): void {
  vi.spyOn(stripeProvider, "charge").mockImplementation(async ({ payment }) => ({
    ...unpaid,
    status: "pending",
    id: `pi_${payment.id}`,
    currency: payment.currency,
  }));
}

/** Returns an amount in micro-units, rounded up to the cent, which settings must have. */
function upToCent(micros: number): number {
  return Math.ceil(micros / 10_000) * 10_000;
}

it(`a busy wallet does not run dry while it is recharged, and no crossing is charged twice (seed ${seed})`, async () => {
  const plan = fc.record({
    sendsPerMinute: fc.integer({ min: 1, max: 40 }),
    latencyMinutes: fc.integer({ min: 0, max: 6 }),
    isJobRepeated: fc.boolean(),
  });
  const property = fc.asyncProperty(plan, async ({ sendsPerMinute, latencyMinutes, isJobRepeated }) => {
    const charges = new Map<string, number>();
    const charge = vi.spyOn(stripeProvider, "charge").mockImplementation(async ({ payment }) => {
      charges.set(payment.id, (charges.get(payment.id) ?? 0) + 1);
      const state: ProviderPayment = {
        status: "succeeded",
        id: `pi_${payment.id}`,
        minorUnits: minorUnitsOf(payment.totalMicros),
        currency: payment.currency,
        feeMinorUnits: 0,
        refunds: [],
        disputes: [],
      };
      vi.spyOn(stripeProvider, "read").mockResolvedValue(state);
      return state;
    });
    // The messages until the charge, and those of the minute in which the balance falls below the threshold.
    const thresholdMicros = upToCent((latencyMinutes + 2) * sendsPerMinute * priceMicros);
    const amountMicros = Math.max(5_000_000, thresholdMicros);
    const organizationId = await openWallet(thresholdMicros + sendsPerMinute * priceMicros);
    await setAutoRecharge(organizationId, {
      isEnabled: true,
      threshold: amountOf(thresholdMicros),
      amount: amountOf(amountMicros),
      monthlyCap: 10_000,
      paymentMethodId: cardId,
    });
    const waiting: { readonly job: PaymentJob; readonly dueMs: number }[] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      // It throws if the balance does not cover the messages.
      await send(organizationId, sendsPerMinute);
      for (const body of await takeJobs("payments")) {
        const due = { job: PaymentJob.parse(body), dueMs: Date.now() + latencyMinutes * minuteMs };
        waiting.push(due, ...(isJobRepeated ? [due] : []));
      }
      advance(minuteMs);
      for (const { job, dueMs } of waiting.splice(0)) {
        if (dueMs < Date.now()) await workOnPayment(job);
        else waiting.push({ job, dueMs });
      }
    }
    charge.mockRestore();
    const payments = await paymentsIn(organizationId);
    expect(payments.every(({ status }) => status === "succeeded")).toBe(true);
    expect([...charges.keys()].toSorted()).toEqual(payments.map(({ id }) => id).toSorted());
    // Each crossing adds at least a threshold's worth, so more payments than that would be doubled ones.
    const spentMicros = minutes * sendsPerMinute * priceMicros;
    expect(payments.length).toBeLessThanOrEqual(Math.ceil(spentMicros / amountMicros));
    expect(payments.length).toBeGreaterThan(0);
  });
  await fc.assert(property, { numRuns: isNightly ? 15 : 4, seed });
}, 120_000);

it("a cap that is lowered while a recharge begins applies to it", async () => {
  const organizationId = await openWallet(1_000_000);
  const settings = { isEnabled: true, threshold: 5, amount: 20 };
  await setAutoRecharge(organizationId, { ...settings, monthlyCap: 100 });
  // The job has read the settings when they change.
  const { findPayment } = await vi.importActual<typeof record>("../../shared/money/payments/record.ts");
  vi.mocked(record.findPayment).mockImplementationOnce(async (key) => {
    const smaller = { ...settings, amount: 10, monthlyCap: 15, paymentMethodId: cardId };
    await setAutoRecharge(organizationId, smaller);
    return findPayment(key);
  });
  chargesStayPending();
  await workOnPayments();
  const payments = await paymentsIn(organizationId);
  expect(payments.map(({ amountMicros }) => amountMicros)).toEqual([10_000_000]);
});

it("a recharge above the maximum, which the operator lowered, is not made", async () => {
  const organizationId = await openWallet(0);
  const settings = { isEnabled: true, threshold: 5, amount: 90, monthlyCap: 200 };
  await setAutoRecharge(organizationId, settings);
  setPayments({ cards: "sandbox", maximum: "25.00" });
  const charge = vi.spyOn(stripeProvider, "charge");
  await workOnPayments();
  expect(await paymentsIn(organizationId)).toEqual([]);
  const { rechargeNotBefore, rechargeId } = await readWallet(organizationId);
  expect([rechargeNotBefore, rechargeId]).toEqual(["2030-06-04T00:00:00.000Z", undefined]);
  const notice = { what: "dailyMaximumReached", dailyMaximum: 125, maximum: 25 } as const;
  expect(await takeJobs("emails")).toMatchObject([{ notice }]);
  const text = await billingText(organizationId, "Ada", notice);
  expect(text?.paragraphs.join()).toContain("above the most of one payment, which is now");
  // It is made the next day, if it is within the maximum again.
  setPayments();
  vi.setSystemTime("2030-06-04T00:02:00Z");
  await requestRecharge(await readWallet(organizationId));
  chargesStayPending();
  await workOnPayments();
  expect(charge).toHaveBeenCalledOnce();
  expect(await paymentsIn(organizationId)).toMatchObject([{ amountMicros: 90_000_000 }]);
});

it("saved cards are charged with the daily maximum at most, however many payments begin at the same time", async () => {
  setPayments({ cards: "sandbox", maximum: "100.00", dailyMaximum: "250.00" });
  const organizationId = await openWallet(0);
  const request = { method: "card", saveCard: false, amount: 50, paymentMethodId: cardId } as const;
  const pay = async (): Promise<string> =>
    createPayment(organizationId, request).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof ApiError ? error.code : "a crash"),
    );
  const outcomes: string[] = [];
  while (!outcomes.includes("RATE_LIMITED")) {
    outcomes.push(...(await Promise.all(Array.from({ length: 8 }, pay))));
    expect(outcomes.length).toBeLessThan(40);
  }
  expect(outcomes.filter((outcome) => outcome === "pending")).toHaveLength(5);
  expect(await paymentsIn(organizationId)).toHaveLength(5);
  await takeJobs("payments");
  await takeJobs("emails");

  await setAutoRecharge(organizationId, { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 });
  await workOnPayments();
  expect(await paymentsIn(organizationId)).toHaveLength(5);
  expect((await readWallet(organizationId)).rechargeNotBefore).toBe("2030-06-04T00:00:00.000Z");
  expect(await takeJobs("emails")).toMatchObject([
    { notice: { what: "dailyMaximumReached", dailyMaximum: 250 } },
  ]);

  vi.setSystemTime("2030-06-04T00:02:00Z");
  expect(await pay()).toBe("pending");
  await requestRecharge(await readWallet(organizationId));
  const [, next] = await takeJobs("payments");
  chargesStayPending();
  await workOnPayment(PaymentJob.parse(next));
  expect(await paymentsIn(organizationId)).toHaveLength(7);
});
