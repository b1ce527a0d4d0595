import * as z from "zod";

import { Currency } from "./primitives.ts";

/** Messages by their present state, and what they cost. */
const MessageCounts = z.object({
  accepted: z.int(),
  queued: z.int(),
  sent: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  /** The share of the messages that were sent among those that were sent or failed; null while there are none. */
  deliveryRate: z.number().min(0).max(1).nullable(),
  /** The prices of the messages, less what was returned for those that failed or were cancelled. */
  spend: z.number(),
});
export type MessageCounts = z.infer<typeof MessageCounts>;

/** A day in UTC. A message counts for the day on which it was accepted, whatever becomes of it later. */
const DayCounts = MessageCounts.extend({ date: z.iso.date() });

export const DashboardStats = z.object({
  balance: z.number(),
  currency: Currency,
  today: DayCounts,
  /** Today and the 29 days before it, summed up. */
  last30Days: MessageCounts,
  /** The same days one by one, newest first. */
  days: z.array(DayCounts).length(30),
});
export type DashboardStats = z.infer<typeof DashboardStats>;
