import {
  AutoRecharge,
  AutoRechargeState,
  Billing,
  BillingDetails,
  CurrentAutoRecharge,
  Invoice,
  InvoiceParams,
} from "../contract/billing.ts";
import { PageQuery } from "../contract/primitives.ts";
import { Usage, UsageQuery } from "../contract/usage.ts";
import type { Route } from "./route.ts";

export const getBilling = {
  method: "GET",
  path: "/v1/billing",
  summary: "Get the billing details, the methods of payment and the tax",
  description: "It has the details for invoices, and how this gateway accepts payments.",
  scope: "billing",
  data: Billing,
} as const satisfies Route;

export const updateBilling = {
  method: "PUT",
  path: "/v1/billing",
  summary: "Replace the billing details; issued invoices stay as they are",
  description: "The next invoice has the new details. The country and the VAT number decide the tax.",
  scope: "billing",
  body: BillingDetails,
  recentProof: true,
  data: Billing,
  audited: [],
} as const satisfies Route;

export const getAutoRecharge = {
  method: "GET",
  path: "/v1/wallet/auto-recharge",
  summary: "Get the settings and the state of auto-recharge, or null",
  description: "It has the last recharge and the reason if recharges have stopped.",
  scope: "billing",
  data: CurrentAutoRecharge,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const updateAutoRecharge = {
  method: "PUT",
  path: "/v1/wallet/auto-recharge",
  summary: "Set when and with how much a saved card recharges the wallet",
  description: "A recharge happens when the balance falls below the threshold.",
  scope: "charge",
  body: AutoRecharge,
  recentProof: true,
  data: AutoRechargeState,
  audited: ["isEnabled", "threshold", "amount", "monthlyCap"],
  errors: ["WALLET_MISSING", "PAYMENT_METHOD_DISABLED", "PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const listInvoices = {
  method: "GET",
  path: "/v1/invoices",
  summary: "List invoices and credit notes, newest first",
  description: "Each paid payment has an invoice, and each refund of one a credit note.",
  scope: "billing",
  query: PageQuery,
  data: Invoice,
  paged: true,
} as const satisfies Route;

export const getInvoice = {
  method: "GET",
  path: "/v1/invoices/{id}",
  summary: "Get an invoice or credit note, as JSON, as a PDF or as a file of EN 16931",
  description:
    "Request the PDF with `Accept: application/pdf`, and the file of the European standard for electronic invoices (EN 16931, syntax " +
    "CII) with `Accept: application/xml`.",
  scope: "billing",
  params: InvoiceParams,
  data: Invoice,
  alternatives: ["application/pdf", "application/xml"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const getUsage = {
  method: "GET",
  path: "/v1/usage",
  summary: "Get the messages and costs of a month by day, country, campaign or API key",
  description:
    "A day is counted about an hour after it ends. `missingDays` lists those that are not counted yet.",
  scope: "read",
  query: UsageQuery,
  data: Usage,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const routes = {
  getBilling,
  updateBilling,
  getAutoRecharge,
  updateAutoRecharge,
  listInvoices,
  getInvoice,
  getUsage,
};
