import * as z from "zod/mini";

import { idSchema, Timestamp } from "./primitives.ts";

export const Keyword = z.enum(["start", "stop", "help"]).register(z.globalRegistry, {
  id: "InboundKeyword",
  description:
    "What the whole message says, in one of some twenty languages: `stop` has set the opt-out of its number, `start` has " +
    "lifted one that a `stop` had set; `help` does nothing by itself. No answer is sent to any of them.",
});
export type Keyword = z.infer<typeof Keyword>;

/** A message that somebody has sent to a number of an organisation. */
export const InboundMessage = z
  .object({
    id: idSchema("inb"),
    from: z.string().register(z.globalRegistry, {
      description: "The number of the phone, or the name or short code that it came from.",
    }),
    to: z
      .string()
      .register(z.globalRegistry, { description: "Your number, or the short code, that it was sent to." }),
    message: z.string(),
    keyword: z.optional(Keyword),
    receivedAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "InboundMessage" });
export type InboundMessage = z.infer<typeof InboundMessage>;

/** A number that people can write to, and whose messages the organisation gets. */
export const AssignedNumber = z
  .object({
    number: z.string().register(z.globalRegistry, {
      description: "In international digits without a plus sign, or a short code.",
    }),
    keyword: z.optional(z.string()).register(z.globalRegistry, {
      description: "Where others share the number: the word that messages to you begin with.",
    }),
  })
  .register(z.globalRegistry, { id: "AssignedNumber" });
export type AssignedNumber = z.infer<typeof AssignedNumber>;
