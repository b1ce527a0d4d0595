import { dayMs, minuteMs, now } from "../../platform/clock.ts";
import { readPause } from "../../platform/jobs/pause.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { microsOfMinorUnits } from "../wallet/money.ts";
import { listWallets } from "../wallet/record.ts";
import { findReference } from "../wallet/reference.ts";
import { isOurs } from "./adopt.ts";
import type { ListedPayment, ProviderNotice } from "./provider.ts";
import { cardProvider } from "./providers.ts";
import { findPayment, paymentsOf, type PaymentKey, type PaymentRecord } from "./record.ts";
import { paymentSettings } from "./settings.ts";
import { keyOf, processSafely } from "./work.ts";

/** A difference between the provider's payments and ours. */
export interface PaymentDifference extends ProviderNotice {
  /**
   * `lost`: a successful payment that this stage made, and that the table has neither a record nor a credit of. `foreign`:
   * one that it did not make. `no organization`: one of a release before 0.4.0, which did not note the stage, and whose
   * organization the table does not have. `differs`: another total or currency. `missing`: a payment that the gateway has credited, and
   * that did not succeed at the provider. `other account`: one that is pending or credited, of another account than the keys.
   */
  readonly difference:
    | "differs"
    | "foreign"
    | "lost"
    | "missing"
    | "no organization"
    | "not credited"
    | "other account";
}

/** How far back the daily comparison looks. Providers repeat their events for three days. */
const comparedMs = 7 * dayMs;

/** How far back a table can be restored. */
const restorableMs = 35 * dayMs;

/** The longest time from the provider's record of a payment until ours. */
const recordDelayMs = dayMs;

/** The organizations whose payments are read at the same time. */
const organizationsTogether = 25;

/**
 * Compares the provider's payments of the last days with ours, after processing those with a lost event.
 * @returns the differences that remain, which the operator has to decide on
 */
export async function comparePayments(): Promise<PaymentDifference[]> {
  if (paymentSettings().cards === "none") return [];
  const since = new Date(now().getTime() - comparedMs);
  const { resumedAt = "" } = await readPause("payments");
  // The pause may have been for a restore to an earlier moment.
  const changedMs = resumedAt > since.toISOString() ? restorableMs + comparedMs : comparedMs;
  const provider = await cardProvider();
  for await (const notice of provider.changesSince(new Date(now().getTime() - changedMs))) {
    const key = await keyOf(notice);
    if (key !== undefined) await processSafely(key);
  }
  const differences = await findDifferences(since, processSafely);
  for (const difference of differences) log.error("payment.differs", { ...difference });
  countMetrics({ PaymentDifferences: differences.length });
  return differences;
}

/**
 * Finds the differences between the provider's payments since a moment and ours, in both directions.
 * @param repair processes a payment that was not credited
 */
export async function findDifferences(
  since: Date,
  repair: (key: PaymentKey) => Promise<unknown> = async () => undefined,
): Promise<PaymentDifference[]> {
  const differences: PaymentDifference[] = [];
  const successful = new Set<string>();
  const provider = await cardProvider();
  const account = await provider.account();
  // The clocks of functions differ by less.
  const listedAt = new Date(now().getTime() - minuteMs).toISOString();
  for await (const listed of provider.paymentsSince(new Date(since.getTime() - recordDelayMs), account)) {
    if (!listed.isSuccessful) continue;
    successful.add(listed.providerPaymentId);
    const difference = await differenceOf(listed, repair);
    if (difference !== undefined) differences.push(difference);
  }
  const findMissing = async (organizationId: string): Promise<void> => {
    for await (const payment of paymentsOf(organizationId, since)) {
      const { id: paymentId, status, providerAccount, providerPaymentId, succeededAt = "" } = payment;
      const isOther = providerAccount !== undefined && providerAccount !== account;
      if (isOther && (status === "pending" || status === "succeeded")) {
        differences.push({ providerPaymentId, organizationId, paymentId, difference: "other account" });
      }
      if (isOther || payment.provider !== "stripe" || status !== "succeeded") continue;
      // A payment that succeeded after the provider listed its own is no difference.
      if (succeededAt >= listedAt || successful.has(providerPaymentId ?? "")) continue;
      differences.push({ providerPaymentId, organizationId, paymentId, difference: "missing" });
    }
  };
  let batch: Promise<void>[] = [];
  for await (const organizationId of listWallets()) {
    if (batch.push(findMissing(organizationId)) < organizationsTogether) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  return differences;
}

async function differenceOf(
  listed: ListedPayment,
  repair: (key: PaymentKey) => Promise<unknown>,
): Promise<PaymentDifference | undefined> {
  const { providerPaymentId, organizationId, paymentId, minorUnits, currency } = listed;
  const names = { providerPaymentId, organizationId, paymentId };
  if (!(await isOurs(listed))) {
    const isNamed = organizationId?.startsWith("org_") === true && paymentId?.startsWith("pay_") === true;
    return { ...names, difference: isNamed && listed.stage === undefined ? "no organization" : "foreign" };
  }
  const key = { organizationId: organizationId ?? "", paymentId: paymentId ?? "" };
  let payment: PaymentRecord | undefined = await findPayment(key);
  if (payment === undefined) {
    const isCredited = (await findReference(providerPaymentId)) !== undefined;
    return isCredited ? undefined : { ...names, difference: "lost" };
  }
  if (currency !== payment.currency || microsOfMinorUnits(minorUnits) !== payment.totalMicros) {
    return { ...names, difference: "differs" };
  }
  if (payment.providerPaymentId !== providerPaymentId) {
    await repair(key);
    payment = await findPayment(key);
  }
  return payment?.providerPaymentId === providerPaymentId
    ? undefined
    : { ...names, difference: "not credited" };
}
