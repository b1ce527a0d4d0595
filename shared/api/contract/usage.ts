import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import { Currency, Month, Timestamp } from "./primitives.ts";

export const UsageQuery = z.strictObject({
  month: about(z.optional(Month), "A month in UTC. Without it, the present month."),
  day: about(
    z.optional(z.iso.date("must be a day such as 2026-11-01")),
    "Only this day (UTC), instead of a whole month.",
  ),
  by: about(
    z._default(namedEnum("UsageGrouping", ["day", "country", "campaign", "key", "sender"]), "day"),
    "The meaning of the rows.",
  ),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

const UsageSums = z.object({
  messages: about(z.int(), "The messages that were paid for and not refunded."),
  segments: about(
    z.optional(z.int()),
    "Their segments. Absent if they include a day that has not been counted.",
  ),
  amount: about(z.number(), "The price of these messages."),
  fees: about(
    z.optional(z.number()),
    "The fees of verifications that are not returned, of the day of their first message, beside `amount`. Absent if they " +
      "include a day that has not been counted.",
  ),
  refunded: about(
    z.number(),
    "The prices of messages that failed or were cancelled. The wallet gets them back.",
  ),
});
export type UsageSums = z.infer<typeof UsageSums>;

export const UsageRow = z
  .extend(UsageSums, {
    name: about(
      z.string(),
      "A day, an ISO 3166-1 country code, the id of a campaign or an API key, or a sender. `none`: the messages without one. " +
        "`other`: the sum of the smallest rows, after the first hundreds.",
    ),
    label: about(z.optional(z.string()), "The name of the campaign, or the name or hint of the key."),
  })
  .register(z.globalRegistry, { id: "UsageRow" });
export type UsageRow = z.infer<typeof UsageRow>;

export const Usage = about(
  namedObject("Usage", {
    month: z.string(),
    day: z.optional(z.iso.date()),
    by: UsageQuery.shape.by,
    currency: Currency,
    isFinal: about(
      z.boolean(),
      "Whether the month, or the day, is over and all its messages and verifications have ended, so that the amounts do not change.",
    ),
    total: UsageSums,
    rows: z.array(UsageRow),
    missingDays: about(
      z.array(z.iso.date()),
      "Days with messages that the rows lack, all or some of them. Empty for `day`.",
    ),
    includedSince: about(
      z.optional(Timestamp),
      "The rows have the messages of the last missing day from this time on. Absent if they have none.",
    ),
  }),
  "The messages of a month and what they cost. A message counts for the day on which it was accepted, in UTC. The " +
    "messages of a day are counted about an hour after its end. Until then `day` has its figures as far as they are known, " +
    "and the others have its newest 5,000 messages. `missingDays` lists it if there are more. The amounts and fees of a final month are those of the ledger.",
);
export type Usage = z.infer<typeof Usage>;
