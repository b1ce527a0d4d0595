import {
  AddedPaymentMethod,
  AddPaymentMethodRequest,
  CreatePaymentRequest,
  Payment,
  PaymentMethodParams,
  PaymentMethods,
  PaymentParams,
  ProviderEventParams,
  ReceivedEvent,
  RemovedPaymentMethod,
} from "../contract/payments.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const createPayment = {
  method: "POST",
  path: "/v1/payments",
  summary: "Pay: open a checkout, charge a saved card, or get the details for a bank transfer",
  description: "The wallet is credited when the payment provider confirms the payment.",
  scope: "billing",
  body: CreatePaymentRequest,
  status: 201,
  data: Payment,
  idempotent: true,
  audited: ["id", "method", "amount", "total", "currency"],
  errors: [
    "CONFLICT",
    "WALLET_MISSING",
    "PAYMENT_METHOD_DISABLED",
    "PAYMENT_PROVIDER_UNAVAILABLE",
    "REAUTHENTICATION_REQUIRED",
  ],
} as const satisfies Route;

export const listPayments = {
  method: "GET",
  path: "/v1/payments",
  summary: "List payments, newest first",
  description: "Each payment has its amount, its tax and its state.",
  scope: "billing",
  query: PageQuery,
  data: Payment,
  paged: true,
} as const satisfies Route;

export const getPayment = {
  method: "GET",
  path: "/v1/payments/{id}",
  summary: "Get a payment; a pending one is first read at the provider",
  description: "Call it when a person returns from the checkout.",
  scope: "billing",
  params: PaymentParams,
  data: Payment,
} as const satisfies Route;

export const cancelPayment = {
  method: "DELETE",
  path: "/v1/payments/{id}",
  summary: "Cancel a payment that waits for the customer",
  description:
    "It closes the checkout, or ends an open bank transfer. A payment that was made meanwhile stays `succeeded`.",
  scope: "billing",
  params: PaymentParams,
  data: Payment,
  audited: ["id", "status"],
  errors: ["CONFLICT", "PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const listPaymentMethods = {
  method: "GET",
  path: "/v1/payment-methods",
  summary: "List the saved cards, newest first",
  description: "Saved cards can pay without a checkout, and are needed for auto-recharge.",
  scope: "billing",
  data: PaymentMethods,
  errors: ["PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const addPaymentMethod = {
  method: "POST",
  path: "/v1/payment-methods",
  summary: "Open a page that saves a card without a payment",
  description: "Send a person to the URL in the response.",
  scope: "billing",
  body: AddPaymentMethodRequest,
  status: 201,
  data: AddedPaymentMethod,
  idempotent: true,
  audited: [],
  errors: ["PAYMENT_METHOD_DISABLED", "PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const deletePaymentMethod = {
  method: "DELETE",
  path: "/v1/payment-methods/{id}",
  summary: "Remove a saved card",
  description: "Auto-recharge fails without a saved card.",
  scope: "billing",
  params: PaymentMethodParams,
  data: RemovedPaymentMethod,
  audited: ["id"],
  errors: ["PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const receivePaymentEvent = {
  method: "POST",
  path: "/v1/payments/events/{provider}",
  summary: "Receive a signed event of the payment provider",
  internal: true,
  auth: "none",
  params: ProviderEventParams,
  data: ReceivedEvent,
  errors: ["INVALID_SIGNATURE", "PAYLOAD_TOO_LARGE", "PAYMENT_PROVIDER_UNAVAILABLE"],
} as const satisfies Route;

export const routes = {
  createPayment,
  listPayments,
  getPayment,
  cancelPayment,
  listPaymentMethods,
  addPaymentMethod,
  deletePaymentMethod,
  receivePaymentEvent,
};
