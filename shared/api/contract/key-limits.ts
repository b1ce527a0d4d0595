import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { Amount } from "./wallet.ts";

/** The limits on the messages that an API key sends. A missing field means no limit. */
export const SendLimits = namedObject("SendLimits", {
  dailyBudget: z.optional(z.number()),
  holdAbove: z.optional(z.number()),
  allowedRecipients: z.optional(z.array(z.string())),
  hours: z.optional(z.object({ from: z.string(), to: z.string(), timeZone: z.string() })),
});
export type SendLimits = z.infer<typeof SendLimits>;

const TimeOfDay = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 08:30"));

/** An IANA time zone. */
export const TimeZone = z
  .string()
  .check(z.maxLength(64, { abort: true }), z.refine(isTimeZone, "must be a time zone such as Europe/Paris"));

export const AllowedRecipient = z.string().check(
  z.regex(/^\+?[1-9]\d{0,14}$/, "must be a phone number in international digits, or the beginning of one"),
  z.overwrite((text) => text.replace(/^\+/, "")),
);

/** An amount with the six decimals of prices. DynamoDB rejects the smallest numbers of JavaScript. */
const Price = z.number().check(
  z.gte(0),
  z.lte(1_000_000),
  z.overwrite((amount) => Math.round(amount * 1e6) / 1e6),
);

/** Unknown fields are rejected, because a limit with a wrong name would not limit anything. */
export const SendLimitsRequest = z
  .strictObject({
    dailyBudget: about(
      z.optional(Amount),
      "The most that messages of the key may cost in a day (UTC). The keys that are made with it, and those that replace " +
        "it, share the budget. Refunds do not return to it.",
    ),
    holdAbove: about(
      z.optional(Price),
      "A message that costs more than this is held until a person approves it. With 0, each message is held.",
    ),
    allowedRecipients: about(
      z.optional(z.array(AllowedRecipient).check(z.minLength(1), z.maxLength(50))),
      "The phone numbers that the key may send to, or the first digits of them.",
    ),
    hours: about(
      z.optional(
        z
          .strictObject({
            from: TimeOfDay,
            to: TimeOfDay,
            timeZone: TimeZone,
          })
          .check(z.refine(({ from, to }) => from !== to, "must begin and end at different times")),
      ),
      "The hours of the day at which messages of the key may be sent: from `from`, and before `to`. They may span " +
        "midnight. For a scheduled message, `scheduledAt` counts.",
    ),
  })
  .check(z.refine((limits) => Object.keys(limits).length > 0, "must have at least one limit"))
  .register(z.globalRegistry, { id: "SendLimitsRequest" });

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
