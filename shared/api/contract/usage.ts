import * as z from "zod/mini";

import { Currency, Month, Timestamp } from "./primitives.ts";

export const UsageQuery = z.strictObject({
  month: z
    .optional(Month)
    .register(z.globalRegistry, { description: "A month in UTC. Without it, the present month." }),
  day: z
    .optional(z.iso.date("must be a day such as 2026-11-01"))
    .register(z.globalRegistry, { description: "Only this day (UTC), instead of a whole month." }),
  by: z
    ._default(
      z
        .enum(["day", "country", "campaign", "key", "sender"])
        .register(z.globalRegistry, { id: "UsageGrouping" }),
      "day",
    )
    .register(z.globalRegistry, { description: "The meaning of the rows." }),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

const UsageSums = z.object({
  messages: z
    .int()
    .register(z.globalRegistry, { description: "The messages that were paid for and not refunded." }),
  segments: z.optional(z.int()).register(z.globalRegistry, {
    description: "Their segments. Absent if they include a day that has not been counted.",
  }),
  amount: z.number().register(z.globalRegistry, { description: "The price of these messages." }),
  fees: z.optional(z.number()).register(z.globalRegistry, {
    description:
      "The fees of verifications that are not returned, of the day of their first message, beside `amount`. Absent if they " +
      "include a day that has not been counted.",
  }),
  refunded: z.number().register(z.globalRegistry, {
    description: "The prices of messages that failed or were cancelled. The wallet gets them back.",
  }),
});
export type UsageSums = z.infer<typeof UsageSums>;

export const UsageRow = z
  .extend(UsageSums, {
    name: z.string().register(z.globalRegistry, {
      description:
        "A day, an ISO 3166-1 country code, the id of a campaign or an API key, or a sender. `none`: the messages without one. " +
        "`other`: the sum of the smallest rows, after the first hundreds.",
    }),
    label: z.optional(z.string()).register(z.globalRegistry, {
      description: "The name of the campaign, or the name or hint of the key.",
    }),
  })
  .register(z.globalRegistry, { id: "UsageRow" });
export type UsageRow = z.infer<typeof UsageRow>;

export const Usage = z
  .object({
    month: z.string(),
    day: z.optional(z.iso.date()),
    by: UsageQuery.shape.by,
    currency: Currency,
    isFinal: z.boolean().register(z.globalRegistry, {
      description:
        "Whether the month, or the day, is over and all its messages and verifications have ended, so that the amounts do not change.",
    }),
    total: UsageSums,
    rows: z.array(UsageRow),
    missingDays: z.array(z.iso.date()).register(z.globalRegistry, {
      description: "Days with messages that the rows lack, all or some of them. Empty for `day`.",
    }),
    includedSince: z.optional(Timestamp).register(z.globalRegistry, {
      description:
        "The rows have the messages of the last missing day from this time on. Absent if they have none.",
    }),
  })
  .register(z.globalRegistry, {
    id: "Usage",
    description:
      "The messages of a month and what they cost. A message counts for the day on which it was accepted, in UTC. The " +
      "messages of a day are counted about an hour after its end. Until then `day` has its figures as far as they are known, " +
      "and the others have its newest 5,000 messages. `missingDays` lists it if there are more. The amounts and fees of a final month are those of the ledger.",
  });
export type Usage = z.infer<typeof Usage>;
