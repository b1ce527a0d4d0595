import * as z from "zod/mini";

import { idSchema, Timestamp } from "./primitives.ts";

export const Keyword = z.enum(["start", "stop", "help"]).register(z.globalRegistry, {
  id: "InboundKeyword",
  description:
    "The keyword that is the whole message, in one of about twenty languages. `stop` has set the opt-out of the number. " +
    "`start` has lifted an opt-out that a `stop` had set. `help` has no effect. The gateway does not reply to keywords.",
});
export type Keyword = z.infer<typeof Keyword>;

/** A message that someone has sent to a number of an organization. */
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

/** A number that people can write to, and whose messages the organization gets. */
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
