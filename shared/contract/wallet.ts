import * as z from "zod";

import { Currency, idSchema, Timestamp } from "./primitives.ts";

export const TopUpRequest = z.object({
  amount: z
    .number()
    .positive("must be greater than 0")
    .max(1_000_000)
    // Cents are compared as decimals: 0.1 + 0.2 is not 0.30 and must not be rounded into it.
    .refine((amount) => Number(amount.toFixed(2)) === amount, "must have at most 2 decimals")
    .default(10),
});
export type TopUpRequest = z.infer<typeof TopUpRequest>;

export const Wallet = z.object({
  balance: z.number(),
  currency: Currency,
  updatedAt: Timestamp,
  /** Present while the operator keeps the wallet closed: sends and top-ups are refused, refunds still arrive. */
  closedAt: Timestamp.optional(),
});
export type Wallet = z.infer<typeof Wallet>;

/**
 * `adjustment` is a credit or a charge by the operator, with its reason. `void` marks a charge whose message was not accepted; its `refund` follows. Where several were lost together,
 * the last one carries their sum.
 */
export const TransactionType = z.enum(["top_up", "message", "refund", "adjustment", "void"]);

export const Transaction = z.object({
  id: idSchema("txn"),
  type: TransactionType,
  /** Negative when money left the wallet. */
  amount: z.number(),
  balanceAfter: z.number(),
  currency: Currency,
  /** The message that was paid for or refunded. */
  messageId: idSchema("msg").optional(),
  /** Why the operator made an adjustment. */
  reason: z.string().optional(),
  createdAt: Timestamp,
});
export type Transaction = z.infer<typeof Transaction>;
