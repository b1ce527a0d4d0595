import * as z from "zod";

import { Currency, idSchema, Timestamp } from "./primitives.ts";

export const TopUpRequest = z
  .object({
    amount: z
      .number()
      .positive("must be greater than 0")
      .max(1_000_000)
      // Cents are compared as decimals: 0.1 + 0.2 is not 0.30 and must not be rounded into it.
      .refine((amount) => Number(amount.toFixed(2)) === amount, "must have at most 2 decimals")
      .default(10)
      .meta({ description: "In USD, with at most 2 decimals." }),
  })
  .meta({ id: "TopUpRequest", examples: [{ amount: 5 }] });
export type TopUpRequest = z.infer<typeof TopUpRequest>;

export const Wallet = z
  .object({ balance: z.number(), currency: Currency, updatedAt: Timestamp })
  .meta({ id: "Wallet" });
export type Wallet = z.infer<typeof Wallet>;

export const TransactionType = z.enum(["top_up", "message", "refund", "void"]).meta({
  description:
    "`void` marks a charge whose message was not accepted; its `refund` follows. Where several were lost " +
    "together, the last one carries their sum.",
});

export const Transaction = z
  .object({
    id: idSchema("txn"),
    type: TransactionType,
    amount: z.number().meta({ description: "Negative when money left the wallet." }),
    balanceAfter: z.number(),
    currency: Currency,
    messageId: idSchema("msg").optional().meta({ description: "The message that was paid for or refunded." }),
    createdAt: Timestamp,
  })
  .meta({ id: "Transaction" });
export type Transaction = z.infer<typeof Transaction>;
