import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { Currency, idSchema, Timestamp } from "./primitives.ts";
import { Amount } from "./wallet.ts";

/** The parties that move the money. */
export const providers = ["stripe", "manual"] as const;

export const PaymentStatus = about(
  namedEnum("PaymentStatus", ["pending", "succeeded", "failed", "expired"]),
  "`pending` until the provider reports a result. `expired` when no one paid at the checkout. A late payment still changes " +
    "`failed` and `expired` to `succeeded`.",
);
export type PaymentStatus = z.infer<typeof PaymentStatus>;

export const PaymentMethodKind = namedEnum("PaymentMethodKind", ["card", "bank_transfer"]);
export type PaymentMethodKind = z.infer<typeof PaymentMethodKind>;

/** Why a card was not charged. */
export const PaymentFailure = namedEnum("PaymentFailure", [
  "authentication_required",
  "card_declined",
  "card_expired",
  "insufficient_funds",
  "no_payment_method",
  "provider_error",
]);
export type PaymentFailure = z.infer<typeof PaymentFailure>;

/** Any host is allowed, because the pages of customers have their own. The caller of this request pays, or sends the payer there. */
const ReturnUrl = about(
  z.optional(
    z.url({ protocol: /^https?$/, error: "must be an https address", abort: true }).check(
      z.maxLength(1_000, { abort: true }),
      z.regex(/^[^\p{C}\p{Z}]*$/u, {
        error: "must not contain spaces or control characters",
        abort: true,
      }),
      z.regex(
        /^(https:\/\/[^@\\/?#]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)([/?#]|$)/,
        "must be an https address without a user name; http is only for this computer",
      ),
    ),
  ),
  "Where the provider's page leads back to. Default: the console.",
);

/** The provider's id of a saved card. */
export const PaymentMethodId = z
  .string()
  .check(z.regex(/^pm_[A-Za-z0-9_]{1,64}$/, "must be the id of a saved payment method"));

export const CreatePaymentRequest = withExample(
  namedStrictObject("CreatePaymentRequest", {
    amount: Amount.check(
      z.meta({
        description: "The amount for the wallet, without tax. `GET /v1/billing` has the limits and the tax.",
      }),
    ),
    method: z._default(PaymentMethodKind, "card"),
    paymentMethodId: about(z.optional(PaymentMethodId), "Charges this saved card, without a checkout."),
    saveCard: about(z._default(z.boolean(), false), "Whether the checkout saves the card for later charges."),
    returnUrl: ReturnUrl,
  }),
  { amount: 50, saveCard: true },
);
export type CreatePaymentRequest = z.infer<typeof CreatePaymentRequest>;

export const PaymentParams = z.object({ id: idSchema("pay") });

export const Payment = namedObject("Payment", {
  id: idSchema("pay"),
  status: PaymentStatus,
  method: PaymentMethodKind,
  origin: namedEnum("PaymentOrigin", ["checkout", "saved_card", "auto_recharge", "operator"]),
  amount: about(z.number(), "The amount for the wallet."),
  tax: z.number(),
  total: about(z.number(), "The amount with tax, which the customer pays."),
  currency: Currency,
  checkoutUrl: about(
    z.optional(z.string()),
    "The provider's page, while the payment waits for the customer there.",
  ),
  instructions: about(z.optional(z.string()), "How to pay, for a pending bank transfer."),
  reference: about(z.optional(z.string()), "The reference to state in a bank transfer."),
  failure: z.optional(PaymentFailure),
  refunded: about(z.optional(z.number()), "The part of `amount` that was paid back, or is being paid back."),
  dispute: about(
    z.optional(namedEnum("DisputeStatus", ["open", "won", "lost"])),
    "The last dispute of the cardholder's bank.",
  ),
  invoiceNumber: z.optional(z.string()),
  createdAt: Timestamp,
  succeededAt: z.optional(Timestamp),
});
export type Payment = z.infer<typeof Payment>;

export const PaymentMethod = namedObject("PaymentMethod", {
  id: PaymentMethodId,
  brand: z.string(),
  last4: z.string(),
  expiryMonth: z.int(),
  expiryYear: z.int(),
  isUsedForAutoRecharge: z.boolean(),
  createdAt: Timestamp,
});
export type PaymentMethod = z.infer<typeof PaymentMethod>;

export const PaymentMethods = z.array(PaymentMethod);

export const PaymentMethodParams = z.object({ id: PaymentMethodId });

export const AddPaymentMethodRequest = z.prefault(
  withExample(namedStrictObject("AddPaymentMethodRequest", { returnUrl: ReturnUrl }), {
    returnUrl: "https://shop.example/billing",
  }),
  {},
);
export type AddPaymentMethodRequest = z.infer<typeof AddPaymentMethodRequest>;

export const AddedPaymentMethod = namedObject("AddedPaymentMethod", {
  checkoutUrl: about(z.string(), "The provider's page that saves a card."),
});

export const RemovedPaymentMethod = namedObject("RemovedPaymentMethod", {
  id: PaymentMethodId,
  deleted: z.literal(true),
});

/** The event of a provider, in its own format. Its signature covers the raw body. */
export const ProviderEventParams = z.object({ provider: z.literal("stripe") });
export const ReceivedEvent = namedObject("ReceivedEvent", { received: z.literal(true) });
