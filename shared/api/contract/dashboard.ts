import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { Currency } from "./primitives.ts";

const MessageCounts = about(
  namedObject("MessageCounts", {
    accepted: z.int(),
    queued: z.int(),
    sent: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    deliveryRate: about(
      z.nullable(z.number().check(z.gte(0), z.lte(1))),
      "The share of the messages that were sent among those that were sent or failed; null while there are none.",
    ),
    delivered: about(z.int(), "Those that their phones got, as receipts say."),
    undelivered: about(z.int(), "Those that were sent and that their phones did not get."),
    receiptRate: about(
      z.nullable(z.number().check(z.gte(0), z.lte(1))),
      "Delivered messages as a share of those with a final delivery receipt; null while there are none.",
    ),
    spend: about(
      z.number(),
      "The prices of the messages, less what was returned for those that failed or were cancelled.",
    ),
  }),
  "Messages by their present state, and what they cost.",
);
export type MessageCounts = z.infer<typeof MessageCounts>;

const DayCounts = z.extend(MessageCounts, { date: z.iso.date() }).register(z.globalRegistry, {
  id: "DayCounts",
  description:
    "A day in UTC. A message counts for the day on which it was accepted, whatever becomes of it later.",
});

export const DashboardStats = namedObject("DashboardStats", {
  balance: z.number(),
  currency: Currency,
  today: DayCounts,
  last30Days: about(MessageCounts.clone(), "Today and the 29 days before it, summed up."),
  days: about(z.array(DayCounts).check(z.length(30)), "The same days one by one, newest first."),
});
export type DashboardStats = z.infer<typeof DashboardStats>;
