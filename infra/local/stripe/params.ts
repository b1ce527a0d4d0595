import * as z from "zod/mini";

/*
 * The parameters of Stripe's operations that the account supports, as forms have them. Others are errors, so that no test
 * relies on a parameter without effect.
 */

const Text = z.string().check(z.minLength(1));
const Integer = z.coerce.number().check(z.int());
const Amount = Integer.check(z.gte(1), z.lte(99_999_999));
const Currency = z.string().check(z.regex(/^[a-z]{3}$/, "must be three lower-case letters"));
const Url = z.url({ protocol: /^https?$/ });
const Metadata = z._default(z.record(z.string(), z.string()), {});
const SetupFutureUsage = orNull(z.literal("off_session"));
const CardOnly = z.optional(z.array(z.literal("card")));

export const NoParams = z.strictObject({});

export const CustomerParams = z.strictObject({
  email: orNull(Text),
  name: orNull(Text),
  metadata: Metadata,
});

const LineItem = z.strictObject({
  quantity: z._default(Integer.check(z.gte(1)), 1),
  price_data: z.strictObject({
    currency: Currency,
    unit_amount: Amount,
    product_data: z.strictObject({ name: Text }),
  }),
});

export const SessionParams = z.strictObject({
  mode: z.enum(["payment", "setup"]),
  customer: orNull(Text),
  client_reference_id: orNull(Text),
  success_url: Url,
  cancel_url: orNull(Url),
  expires_at: z.optional(Integer),
  allowed_payment_method_types: CardOnly,
  line_items: z._default(z.array(LineItem), []),
  metadata: Metadata,
  payment_intent_data: z.prefault(
    z.strictObject({ metadata: Metadata, setup_future_usage: SetupFutureUsage }),
    {},
  ),
  setup_intent_data: z.prefault(z.strictObject({ metadata: Metadata }), {}),
});
export type SessionParams = z.infer<typeof SessionParams>;

/** The only payments without a checkout are those that succeed or fail immediately. */
export const PaymentParams = z.strictObject({
  amount: Amount,
  currency: Currency,
  customer: Text,
  payment_method: Text,
  allowed_payment_method_types: CardOnly,
  metadata: Metadata,
  confirm: z.literal("true"),
  off_session: z.literal("true"),
});
export type PaymentParams = z.infer<typeof PaymentParams>;

export const RefundParams = z.strictObject({
  payment_intent: Text,
  amount: z.optional(Amount),
  metadata: Metadata,
});
export type RefundParams = z.infer<typeof RefundParams>;

export const DisputeParams = z.strictObject({ status: z.enum(["lost", "won"]) });

const Bound = z.optional(z.coerce.number());
export const ListParams = z.looseObject({
  limit: z._default(Integer.check(z.gte(1), z.lte(100)), 10),
  starting_after: z.optional(Text),
  created: z.prefault(z.strictObject({ gt: Bound, gte: Bound, lt: Bound, lte: Bound }), {}),
});

export const Expand = z._default(z.array(Text), []);

function orNull<Schema extends z.ZodMiniType>(schema: Schema) {
  return z._default(z.nullable(schema), null);
}
