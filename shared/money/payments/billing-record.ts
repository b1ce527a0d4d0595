import * as z from "zod/mini";

import { BillingDetails, type Billing } from "../../api/contract/billing.ts";
import { PaymentFailure, type PaymentMethodKind } from "../../api/contract/payments.ts";
import { config } from "../../platform/config.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { Buyer } from "../invoices/record.ts";
import { amountOf, microsOfText } from "../wallet/money.ts";
import { transferReference } from "./record.ts";
import { paymentSettings } from "./settings.ts";
import { taxOf } from "./tax.ts";

/** The settings of auto-recharge, and what happened in its present month. The wallet has the threshold. */
const AutoRechargeRecord = z.object({
  isEnabled: z.boolean(),
  thresholdMicros: z.int().check(z.positive()),
  amountMicros: z.int().check(z.positive()),
  monthlyCapMicros: z.int().check(z.positive()),
  paymentMethodId: z.optional(z.string()),
});
export type AutoRechargeRecord = z.infer<typeof AutoRechargeRecord>;

/** An organization as a buyer. The provider's customer has its saved cards. */
export const BillingRecord = z.object({
  organizationId: z.string(),
  /** Those of an earlier release may have a name that is rejected now. */
  details: z.optional(z.object({ ...BillingDetails.shape, ...Buyer.shape })),
  /** The customer of the last payment or page. Releases up to 0.4.0 stored no others. */
  customerId: z.optional(z.string()),
  /** The customers by their accounts at the provider, so that saved cards stay while the keys of another one are used. */
  customerIds: z.optional(z.record(z.string(), z.string())),
  autoRecharge: z.optional(AutoRechargeRecord),
  /** The month (UTC) of the last recharge, and what recharges added to the wallet in it. */
  rechargeMonth: z.optional(z.string()),
  rechargedMicros: z._default(z.int(), 0),
  /** The recharges that failed since the last one that succeeded, and why the last one did. */
  rechargeFailures: z._default(z.int(), 0),
  rechargeFailure: z.optional(PaymentFailure),
});
export type BillingRecord = z.infer<typeof BillingRecord>;

/** Reads the billing details of an organization as they are now. There are always some, at least without any field. */
export async function readBilling(organizationId: string): Promise<BillingRecord> {
  const found = await findItem(BillingRecord, keys.billing(organizationId), { consistent: true });
  return found ?? { organizationId, rechargedMicros: 0, rechargeFailures: 0 };
}

/** Returns the billing details with the terms of the gateway. */
export async function toApiBilling(billing: BillingRecord): Promise<Billing> {
  const { organizationId } = billing;
  const { bankTransfer, minimum, maximum } = paymentSettings();
  return {
    details: await buyerOf(billing),
    currency: config.currency(),
    methods: paymentMethodKinds(),
    minimumPayment: amountOf(microsOfText(minimum) ?? 0),
    maximumPayment: amountOf(microsOfText(maximum) ?? 0),
    tax: taxOf(billing.details),
    instructions: bankTransfer,
    reference: transferReference(organizationId),
  };
}

/** Returns the buyer's details. Without any, the buyer has the name of the organization. */
export async function buyerOf({
  organizationId,
  details,
}: Pick<BillingRecord, "details" | "organizationId">): Promise<BillingDetails> {
  if (details !== undefined) return details;
  const organization = await findOrganization(organizationId);
  return { name: organization?.name ?? organizationId };
}

/** Returns the methods by which customers of this stage can pay. */
export function paymentMethodKinds(): PaymentMethodKind[] {
  const { cards, bankTransfer } = paymentSettings();
  return [
    ...(cards === "none" ? [] : (["card"] as const)),
    ...(bankTransfer === undefined ? [] : (["bank_transfer"] as const)),
  ];
}
