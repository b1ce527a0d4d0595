import * as z from "zod/mini";

import { Currency } from "./primitives.ts";

const MessageCounts = z
  .object({
    accepted: z.int(),
    queued: z.int(),
    sent: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    deliveryRate: z.nullable(z.number().check(z.gte(0), z.lte(1))).register(z.globalRegistry, {
      description:
        "The share of the messages that were sent among those that were sent or failed; null while there are none.",
    }),
    delivered: z
      .int()
      .register(z.globalRegistry, { description: "Those that their phones got, as receipts say." }),
    undelivered: z
      .int()
      .register(z.globalRegistry, { description: "Those that were sent and that their phones did not get." }),
    receiptRate: z.nullable(z.number().check(z.gte(0), z.lte(1))).register(z.globalRegistry, {
      description:
        "Delivered messages as a share of those with a final delivery receipt; null while there are none.",
    }),
    spend: z.number().register(z.globalRegistry, {
      description:
        "The prices of the messages, less what was returned for those that failed or were cancelled.",
    }),
  })
  .register(z.globalRegistry, {
    id: "MessageCounts",
    description: "Messages by their present state, and what they cost.",
  });
export type MessageCounts = z.infer<typeof MessageCounts>;

const DayCounts = z.extend(MessageCounts, { date: z.iso.date() }).register(z.globalRegistry, {
  id: "DayCounts",
  description:
    "A day in UTC. A message counts for the day on which it was accepted, whatever becomes of it later.",
});

export const DashboardStats = z
  .object({
    balance: z.number(),
    currency: Currency,
    today: DayCounts,
    last30Days: MessageCounts.clone().register(z.globalRegistry, {
      description: "Today and the 29 days before it, summed up.",
    }),
    days: z
      .array(DayCounts)
      .check(z.length(30))
      .register(z.globalRegistry, { description: "The same days one by one, newest first." }),
  })
  .register(z.globalRegistry, { id: "DashboardStats" });
export type DashboardStats = z.infer<typeof DashboardStats>;
