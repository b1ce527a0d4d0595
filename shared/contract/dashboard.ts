import * as z from "zod";

import { Currency } from "./primitives.ts";

const MessageCounts = z
  .object({
    accepted: z.int(),
    queued: z.int(),
    sent: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    deliveryRate: z.number().min(0).max(1).nullable().meta({
      description:
        "The share of the messages that were sent among those that were sent or failed; null while there are none.",
    }),
    delivered: z.int().meta({ description: "Those that their phones got, as receipts say." }),
    undelivered: z.int().meta({ description: "Those that were sent and that their phones did not get." }),
    receiptRate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({
        description:
          "The share of the messages that were delivered among those of which a receipt says whether they were; null while " +
          "there are none.",
      }),
    spend: z.number().meta({
      description:
        "The prices of the messages, less what was returned for those that failed or were cancelled.",
    }),
  })
  .meta({ id: "MessageCounts", description: "Messages by their present state, and what they cost." });
export type MessageCounts = z.infer<typeof MessageCounts>;

const DayCounts = MessageCounts.extend({ date: z.iso.date() }).meta({
  id: "DayCounts",
  description:
    "A day in UTC. A message counts for the day on which it was accepted, whatever becomes of it later.",
});

export const DashboardStats = z
  .object({
    balance: z.number(),
    currency: Currency,
    today: DayCounts,
    last30Days: MessageCounts.meta({ description: "Today and the 29 days before it, summed up." }),
    days: z.array(DayCounts).length(30).meta({ description: "The same days one by one, newest first." }),
  })
  .meta({ id: "DashboardStats" });
export type DashboardStats = z.infer<typeof DashboardStats>;
