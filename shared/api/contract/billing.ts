import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { Country } from "./countries.ts";
import { PaymentFailure, PaymentMethodId, PaymentMethodKind } from "./payments.ts";
import { Currency, idSchema, messageText, Timestamp } from "./primitives.ts";
import { Role } from "./scopes.ts";
import { TaxNumber, VatNumber } from "./tax-numbers.ts";
import { Amount } from "./wallet.ts";

/** The roles whose members get a kind of email. */
const Recipients = z.array(Role).check(z.maxLength(Role.options.length));

/** The roles whose members get each kind of email, beside owners. */
const emails = {
  payments: about(
    z.optional(Recipients),
    "Receipts with invoices. Default: billing. Owners always get them.",
  ),
  warnings: about(
    z.optional(Recipients),
    "Low balance, reached caps, failed recharges. Default: billing. Owners always get them.",
  ),
};

/** The name, address and tax number on invoices, and who gets emails. */
export const BillingDetails = withExample(
  namedStrictObject("BillingDetailsRequest", {
    name: about(messageText(200), "The name on invoices."),
    address: about(
      z.optional(z.array(messageText(100)).check(z.maxLength(5))),
      "The lines of the address on invoices, without the country.",
    ),
    country: about(z.optional(Country), "Decides the tax. Default: the operator's country."),
    vatNumber: about(
      z.optional(VatNumber),
      "A number of `country` with its prefix, for the reverse charge. The form and the check digits are checked; spaces, " +
        "dots and hyphens are removed.",
    ),
    taxNumber: about(
      z.optional(TaxNumber),
      "Another tax number that invoices show, for example an ABN or a GSTIN. It does not affect the tax.",
    ),
    emails: about(
      z.optional(namedStrictObject("BillingEmailsRequest", emails)),
      "The roles whose members get each kind of email, beside owners.",
    ),
  }),
  {
    name: "Ada's shop Ltd",
    address: ["1 High Street", "London"],
    country: "GB",
    emails: { payments: ["billing"] },
  },
);
export type BillingDetails = z.infer<typeof BillingDetails>;

/** The billing details, with the terms of the gateway. */
export const Billing = namedObject("Billing", {
  details: namedObject("BillingDetails", {
    ...BillingDetails.shape,
    emails: z.optional(namedObject("BillingEmails", emails)),
  }),
  currency: Currency,
  methods: z.array(PaymentMethodKind),
  minimumPayment: z.number(),
  maximumPayment: z.number(),
  tax: z.object({
    rate: about(z.number(), "In percent of the amount."),
    note: z.optional(z.string()),
    reason: about(z.optional(z.string()), "Why the VAT number does not change the tax."),
  }),
  instructions: about(z.optional(z.string()), "How to pay by bank transfer."),
  reference: about(z.string(), "The organization's reference for bank transfers."),
});
export type Billing = z.infer<typeof Billing>;

export const AutoRecharge = withExample(
  namedStrictObject("AutoRecharge", {
    isEnabled: z.boolean(),
    threshold: Amount.check(z.meta({ description: "A recharge follows when the balance falls below it." })),
    amount: Amount.check(z.meta({ description: "The amount for the wallet, without tax." })),
    monthlyCap: Amount.check(
      z.meta({ description: "The most that recharges add to the wallet in a month (UTC)." }),
    ),
    paymentMethodId: about(z.optional(PaymentMethodId), "The saved card. Default: the last that was saved."),
  }),
  { isEnabled: true, threshold: 20, amount: 100, monthlyCap: 1_000 },
);
export type AutoRecharge = z.infer<typeof AutoRecharge>;

/** The settings with what has happened this month. */
export const AutoRechargeState = namedObject("AutoRechargeState", {
  ...AutoRecharge.shape,
  rechargedThisMonth: z.number(),
  pausedUntil: about(
    z.optional(Timestamp),
    "No recharge starts before it, because the last failed or the cap is reached.",
  ),
  failure: z.optional(PaymentFailure),
  pendingPaymentId: z.optional(idSchema("pay")),
});
export type AutoRechargeState = z.infer<typeof AutoRechargeState>;

/** Null until there are settings. */
export const CurrentAutoRecharge = z.nullable(AutoRechargeState);

export const InvoiceParams = z.object({
  // Numbers have six digits, and more from the millionth of a year on.
  id: z
    .string()
    .check(
      z.regex(/^(INV|CRN)-\d{4}-(\d{6}|[1-9]\d{6,8})$/, "must be the number of an invoice or credit note"),
    ),
});

const Party = z.object({
  name: z.string(),
  address: z.optional(z.array(z.string())),
  country: z.optional(z.string()),
  vatNumber: z.optional(z.string()),
  taxNumber: z.optional(z.string()),
  email: z.optional(z.string()),
});

/** An invoice or a credit note. It never changes. */
export const Invoice = namedObject("Invoice", {
  id: about(z.string(), "Its number. The numbers of a year and kind have no gaps."),
  kind: namedEnum("InvoiceKind", ["invoice", "credit_note"]),
  corrects: about(z.optional(z.string()), "The invoice that a credit note corrects."),
  paymentId: idSchema("pay"),
  issuedAt: Timestamp,
  issuedOn: about(z.string(), "The day in the time zone of the seller."),
  seller: Party,
  buyer: Party,
  lines: z.array(z.object({ description: z.string(), amount: z.number() })),
  amount: z.number(),
  taxRate: about(z.number(), "In percent."),
  tax: z.number(),
  taxNote: z.optional(z.string()),
  total: z.number(),
  currency: Currency,
  localTax: about(
    z.optional(z.object({ amount: z.number(), currency: z.string(), exchangeRate: z.string() })),
    "The `tax` in the currency of the seller's country.",
  ),
});
export type Invoice = z.infer<typeof Invoice>;
