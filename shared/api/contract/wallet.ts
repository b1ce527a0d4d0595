import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { Currency, idSchema, PageQuery, Timestamp } from "./primitives.ts";
import { notNull } from "./validation.ts";

export const Amount = z.number().check(
  z.positive("must be greater than 0"),
  z.lte(1_000_000),
  // Cents are compared as decimals: 0.1 + 0.2 is not 0.30 and must not be rounded into it. `microsOfField` rejects the cents
  // of a currency without decimals.
  z.refine((amount) => Number(amount.toFixed(2)) === amount, "must have at most 2 decimals"),
);

const amountDescription = "With at most the decimals of the gateway's currency.";

export const TopUpRequest = z.prefault(
  withExample(
    namedStrictObject("TopUpRequest", {
      amount: about(notNull(z._default(Amount, 10)), amountDescription),
    }),
    { amount: 5 },
  ),
  {},
);
export type TopUpRequest = z.infer<typeof TopUpRequest>;

export const Wallet = namedObject("Wallet", {
  balance: about(z.number(), "Below 0 only after a chargeback of money that had been spent."),
  currency: Currency,
  updatedAt: Timestamp,
  spentToday: about(
    z.number(),
    "The amount charged for messages since midnight UTC. Refunds are not subtracted.",
  ),
  dailySpendCap: about(
    z.optional(z.number()),
    "The most that may be charged for messages in a day (UTC). Without it there is no cap.",
  ),
  lowBalanceThreshold: about(
    z.optional(z.number()),
    "The event `balance.low` is sent when the balance falls below this amount.",
  ),
  closedAt: about(
    z.optional(Timestamp),
    "Present while the operator keeps the wallet closed: sends and top-ups are rejected, refunds still arrive.",
  ),
  sendingPausedAt: about(z.optional(Timestamp), "Present while sending is paused."),
});
export type Wallet = z.infer<typeof Wallet>;

/** Fields that are not there stay as they are. */
export const UpdateWalletRequest = withExample(
  namedStrictObject("UpdateWalletRequest", {
    dailySpendCap: about(
      z.nullish(Amount),
      `${amountDescription} At most what the operator allows; holds from the next message on. ` +
        "null leaves it to the operator.",
    ),
    lowBalanceThreshold: about(
      z.nullish(Amount),
      `${amountDescription} null takes it away. Where the gateway requires recent passwords, an API key can only set it first.`,
    ),
    sendingPaused: about(
      z.optional(z.boolean()),
      "With `true`, sends end with `SENDING_PAUSED`, campaigns stop, and scheduled messages that become due fail and are " +
        "refunded. With `false`, sending resumes; failed messages stay failed. An API key cannot resume it.",
    ),
  }),
  { dailySpendCap: 25, lowBalanceThreshold: 10 },
);
export type UpdateWalletRequest = z.infer<typeof UpdateWalletRequest>;

/** The types of movements that the operator of the gateway makes. */
export const operatorTransactionTypes = [
  "payment",
  "payment_refund",
  "chargeback",
  "credit",
  "correction",
] as const;

export const TransactionType = about(
  namedEnum("TransactionType", [
    "top_up",
    "message",
    "verification_fee",
    "refund",
    "void",
    ...operatorTransactionTypes,
  ]),
  "`payment` is money that the customer paid. `payment_refund` is a payment that was paid back. `chargeback` is a " +
    "payment that the customer's bank took back. `credit` is money from the operator. `correction` fixes a mistake. " +
    "`verification_fee` is the fee of a verification; one that is not approved gets a `refund`. " +
    "`void` marks a charge whose message was not accepted; its `refund` follows. Where several were lost " +
    "together, the last one carries their sum.",
);

export const TransactionsQuery = z.safeExtend(PageQuery, {
  type: about(
    z.optional(TransactionType),
    "Only entries of this type. With a filter, each call reads the next 1,000 entries, and `total` counts the matches " +
      "among them. A page may be short or empty although `nextCursor` shows that more follow.",
  ),
  from: about(z.optional(z.iso.date()), "Entries of this day (UTC) and later."),
  to: about(z.optional(z.iso.date()), "Entries of this day (UTC) and earlier."),
});
export type TransactionsQuery = z.infer<typeof TransactionsQuery>;

export const Transaction = namedObject("Transaction", {
  id: idSchema("txn"),
  type: TransactionType,
  amount: about(z.number(), "Negative when money left the wallet."),
  balanceAfter: z.number(),
  currency: Currency,
  messageId: about(z.optional(idSchema("msg")), "The message that was paid for or refunded."),
  to: about(
    z.optional(PhoneNumber),
    "The number of the message, until the message expires or the number is erased.",
  ),
  country: about(z.optional(z.string()), "The ISO 3166-1 code of the number's country, if it has one."),
  segments: about(z.optional(z.int()), "The segments of the message."),
  campaignId: about(z.optional(idSchema("cmp")), "The campaign of the message."),
  verificationId: about(z.optional(idSchema("ver")), "The verification of the fee."),
  paymentId: about(z.optional(idSchema("pay")), "The payment that was credited, refunded or disputed."),
  reason: about(z.optional(z.string()), "Why the operator made the movement."),
  reference: about(
    z.optional(z.string()),
    "The operator's unique reference of the movement, such as the number of an invoice or a bank transfer.",
  ),
  createdAt: Timestamp,
});
export type Transaction = z.infer<typeof Transaction>;
