import { vi } from "vitest";

import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { paymentsOf, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { config } from "../../shared/platform/config.ts";
import { takeJobs } from "./queues.ts";

/** Lets the stage have payments with these settings, until the mocks are restored. */
export function setPayments(settings: object = { cards: "sandbox" }): void {
  vi.spyOn(config, "payments").mockReturnValue(JSON.stringify(settings));
  vi.spyOn(config, "apiUrl").mockReturnValue("https://api.example.com");
}

/** Lets each organization have the saved card `pm_1` at the payment provider, until the mocks are restored. */
export function haveSavedCards(): void {
  vi.spyOn(stripeProvider, "account").mockResolvedValue("acct_1 test");
  vi.spyOn(stripeProvider, "createCustomer").mockResolvedValue("cus_1");
  const card = { id: "pm_1", brand: "visa", last4: "4242", expiryMonth: 1, expiryYear: 2040 };
  vi.spyOn(stripeProvider, "listMethods").mockResolvedValue([{ ...card, createdAt: "2030-06-03T12:00:00Z" }]);
}

/** The payments of an organization in the table. */
export async function paymentsIn(organizationId: string): Promise<PaymentRecord[]> {
  const payments: PaymentRecord[] = [];
  for await (const payment of paymentsOf(organizationId)) payments.push(payment);
  return payments;
}

/** Takes the jobs of payments off their queue. */
export async function paymentJobs(): Promise<PaymentJob[]> {
  return (await takeJobs("payments")).map((job) => PaymentJob.parse(job));
}

/** Works on the jobs of payments that are on their queue. */
export async function workOnPayments(): Promise<void> {
  for (const job of await paymentJobs()) await workOnPayment(job);
}
