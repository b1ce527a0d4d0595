import { ApiError } from "../../api/contract/errors.ts";
import { config } from "../../platform/config.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateOf, type Update } from "../../platform/table/write.ts";
import { microsOfMinorUnits, moneyText } from "../wallet/money.ts";
import { findWallet } from "../wallet/record.ts";
import { findMovement } from "../wallet/reference.ts";
import { readBilling, type BillingRecord } from "./billing-record.ts";
import { newPayment } from "./create.ts";
import { credit } from "./movements.ts";
import type { ListedPayment } from "./provider.ts";
import { cardProvider } from "./providers.ts";
import { monthOf } from "./recharge-state.ts";
import { findPayment, type PaymentRecord } from "./record.ts";
import { taxMicrosOf } from "./tax.ts";

/*
 * A restore of the table loses the payments since its moment. The provider still has them, with what the gateway noted in
 * their metadata. An adopted payment has its old id, and is credited once: the provider's id is a reference forever.
 */

/**
 * Whether a payment was made by this stage. The metadata of earlier releases has no stage: then it is one of ours if its
 * organization is.
 */
export async function isOurs({ organizationId, paymentId, stage }: ListedPayment): Promise<boolean> {
  if (organizationId === undefined || paymentId === undefined) return false;
  return stage === undefined ? (await findWallet(organizationId)) !== undefined : stage === config.stage();
}

/**
 * Returns the record that a payment of the provider had, before its credit.
 * @param amountMicros the amount without tax, for a payment of a release that did not note it
 * @throws RejectedError when it cannot be adopted
 */
export async function lostPayment(
  providerPaymentId: string,
  amountMicros: number | undefined,
): Promise<PaymentRecord> {
  const provider = await cardProvider();
  const listed = await provider.identify(providerPaymentId);
  const { organizationId = "", paymentId = "", origin, createdAt, terms } = listed;
  if (!listed.isSuccessful) throw new RejectedError("The payment did not succeed at the provider.");
  if (!(await isOurs(listed)))
    throw new RejectedError("This stage did not make the payment, or its organization is gone.");
  if ((await findWallet(organizationId)) === undefined) {
    throw new RejectedError(
      `There is no organization ${organizationId}. Refund the payment at the provider, or let the customer register again.`,
    );
  }
  const totalMicros = microsOfMinorUnits(listed.minorUnits);
  const total = `The customer paid ${moneyText(totalMicros)} in total.`;
  const netMicros = terms?.amountMicros ?? amountMicros;
  if (listed.currency !== config.currency())
    throw new RejectedError(`It is a payment in ${listed.currency}.`);
  if (netMicros === undefined) {
    throw new RejectedError(`${total} State the amount without tax with --amount.`);
  }
  const billing = await readBilling(organizationId);
  const fields = { organizationId, method: "card", origin, amountMicros: netMicros, billing } as const;
  // Without terms, the buyer and the tax are those of the customer's present details.
  const present = newPayment({ id: paymentId, ...fields });
  const { buyer = present.buyer, taxRate, taxNote } = terms ?? present;
  if (terms?.buyer === undefined && (taxRate !== present.taxRate || taxNote !== present.taxNote)) {
    throw new RejectedError(
      `The tax of the payment was ${taxRate} % (${taxNote ?? "no note"}), and the present billing details have another one: ` +
        `${present.taxRate} % (${present.taxNote ?? "no note"}). Let the customer enter the details of the payment in the ` +
        "console, and repeat the command. Or refund the payment at the provider.",
    );
  }
  const payment = { ...present, createdAt, ...terms, buyer };
  const taxMicros = taxMicrosOf(netMicros, { rate: taxRate });
  if (netMicros + taxMicros !== totalMicros) {
    const wrong = moneyText(netMicros + taxMicros);
    throw new RejectedError(`${total} With a tax of ${taxRate} % the amount has a total of ${wrong}.`);
  }
  return { ...payment, taxMicros, totalMicros, providerAccount: await provider.account() };
}

/**
 * Credits a lost payment together with its record, once. `processPayment` does the rest: the fee, refunds, disputes and
 * documents.
 * @returns false when it was credited before
 * @throws RejectedError when its record exists, or its id is the reference of another movement. ApiError UNAVAILABLE:
 *   repeat it.
 */
export async function adoptPayment(payment: PaymentRecord, providerPaymentId: string): Promise<boolean> {
  const { organizationId, amountMicros } = payment;
  const movement = { organizationId, type: "payment", amountMicros, reference: providerPaymentId } as const;
  if ((await findMovement(movement)) !== undefined) return false;
  const others =
    payment.origin === "auto_recharge" ? countedRecharge(payment, await readBilling(organizationId)) : [];
  if ((await credit(payment, providerPaymentId, { isNew: true, others })) === "applied") return true;
  // Another call adopted it in between.
  if ((await findMovement(movement)) !== undefined) return false;
  if ((await findPayment({ organizationId, paymentId: payment.id })) === undefined)
    throw new ApiError("UNAVAILABLE");
  throw new RejectedError(`${payment.id} has its record. The gateway processes it.`);
}

/** Returns the write that counts a recharge against the monthly cap, if its month is the present one of the counter or later. */
function countedRecharge(
  { amountMicros, createdAt }: PaymentRecord,
  billing: BillingRecord,
): Update<"billing">[] {
  const { organizationId, rechargeMonth = "" } = billing;
  const month = monthOf(new Date(createdAt));
  if (month < rechargeMonth) return [];
  const isSame = month === rechargeMonth;
  const rechargedMicros = amountMicros + (isSame ? billing.rechargedMicros : 0);
  const set = { entity: "billing" as const, organizationId, rechargeMonth: month, rechargedMicros };
  const requires: Requirements<"billing"> =
    billing.rechargeMonth === undefined
      ? { absent: ["rechargeMonth"] }
      : { is: { rechargeMonth, rechargedMicros: billing.rechargedMicros } };
  return [updateOf(keys.billing(organizationId), { set }, requires)];
}
