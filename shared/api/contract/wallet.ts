import * as z from "zod/mini";

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
  z
    .strictObject({
      amount: notNull(z._default(Amount, 10)).register(z.globalRegistry, { description: amountDescription }),
    })
    .register(z.globalRegistry, { id: "TopUpRequest", examples: [{ amount: 5 }] }),
  {},
);
export type TopUpRequest = z.infer<typeof TopUpRequest>;

export const Wallet = z
  .object({
    balance: z.number().register(z.globalRegistry, {
      description: "Below 0 only after a chargeback of money that had been spent.",
    }),
    currency: Currency,
    updatedAt: Timestamp,
    spentToday: z.number().register(z.globalRegistry, {
      description: "The amount charged for messages since midnight UTC. Refunds are not subtracted.",
    }),
    dailySpendCap: z.optional(z.number()).register(z.globalRegistry, {
      description: "The most that may be charged for messages in a day (UTC). Without it there is no cap.",
    }),
    lowBalanceThreshold: z.optional(z.number()).register(z.globalRegistry, {
      description: "The event `balance.low` is sent when the balance falls below this amount.",
    }),
    closedAt: z.optional(Timestamp).register(z.globalRegistry, {
      description:
        "Present while the operator keeps the wallet closed: sends and top-ups are rejected, refunds still arrive.",
    }),
    sendingPausedAt: z.optional(Timestamp).register(z.globalRegistry, {
      description: "Present while sending is paused.",
    }),
  })
  .register(z.globalRegistry, { id: "Wallet" });
export type Wallet = z.infer<typeof Wallet>;

/** Fields that are not there stay as they are. */
export const UpdateWalletRequest = z
  .strictObject({
    dailySpendCap: z.nullish(Amount).register(z.globalRegistry, {
      description:
        `${amountDescription} At most what the operator allows; holds from the next message on. ` +
        "null leaves it to the operator.",
    }),
    lowBalanceThreshold: z.nullish(Amount).register(z.globalRegistry, {
      description: `${amountDescription} null takes it away. Where the gateway requires recent passwords, an API key can only set it first.`,
    }),
    sendingPaused: z.optional(z.boolean()).register(z.globalRegistry, {
      description:
        "With `true`, sends end with `SENDING_PAUSED`, campaigns stop, and scheduled messages that become due fail and are " +
        "refunded. With `false`, sending resumes; failed messages stay failed. An API key cannot resume it.",
    }),
  })
  .register(z.globalRegistry, {
    id: "UpdateWalletRequest",
    examples: [{ dailySpendCap: 25, lowBalanceThreshold: 10 }],
  });
export type UpdateWalletRequest = z.infer<typeof UpdateWalletRequest>;

/** The types of movements that the operator of the gateway makes. */
export const operatorTransactionTypes = [
  "payment",
  "payment_refund",
  "chargeback",
  "credit",
  "correction",
] as const;

export const TransactionType = z
  .enum(["top_up", "message", "verification_fee", "refund", "void", ...operatorTransactionTypes])
  .register(z.globalRegistry, {
    id: "TransactionType",
    description:
      "`payment` is money that the customer paid. `payment_refund` is a payment that was paid back. `chargeback` is a " +
      "payment that the customer's bank took back. `credit` is money from the operator. `correction` fixes a mistake. " +
      "`verification_fee` is the fee of a verification; one that is not approved gets a `refund`. " +
      "`void` marks a charge whose message was not accepted; its `refund` follows. Where several were lost " +
      "together, the last one carries their sum.",
  });

export const TransactionsQuery = z.safeExtend(PageQuery, {
  type: z.optional(TransactionType).register(z.globalRegistry, {
    description:
      "Only entries of this type. With a filter, each call reads the next 1,000 entries, and `total` counts the matches " +
      "among them. A page may be short or empty although `nextCursor` shows that more follow.",
  }),
  from: z
    .optional(z.iso.date())
    .register(z.globalRegistry, { description: "Entries of this day (UTC) and later." }),
  to: z
    .optional(z.iso.date())
    .register(z.globalRegistry, { description: "Entries of this day (UTC) and earlier." }),
});
export type TransactionsQuery = z.infer<typeof TransactionsQuery>;

export const Transaction = z
  .object({
    id: idSchema("txn"),
    type: TransactionType,
    amount: z.number().register(z.globalRegistry, { description: "Negative when money left the wallet." }),
    balanceAfter: z.number(),
    currency: Currency,
    messageId: z
      .optional(idSchema("msg"))
      .register(z.globalRegistry, { description: "The message that was paid for or refunded." }),
    to: z.optional(PhoneNumber).register(z.globalRegistry, {
      description: "The number of the message, until the message expires or the number is erased.",
    }),
    country: z.optional(z.string()).register(z.globalRegistry, {
      description: "The ISO 3166-1 code of the number's country, if it has one.",
    }),
    segments: z.optional(z.int()).register(z.globalRegistry, { description: "The segments of the message." }),
    campaignId: z
      .optional(idSchema("cmp"))
      .register(z.globalRegistry, { description: "The campaign of the message." }),
    verificationId: z
      .optional(idSchema("ver"))
      .register(z.globalRegistry, { description: "The verification of the fee." }),
    paymentId: z
      .optional(idSchema("pay"))
      .register(z.globalRegistry, { description: "The payment that was credited, refunded or disputed." }),
    reason: z
      .optional(z.string())
      .register(z.globalRegistry, { description: "Why the operator made the movement." }),
    reference: z.optional(z.string()).register(z.globalRegistry, {
      description:
        "The operator's unique reference of the movement, such as the number of an invoice or a bank transfer.",
    }),
    createdAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "Transaction" });
export type Transaction = z.infer<typeof Transaction>;
