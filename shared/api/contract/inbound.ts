import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { BooleanParameter, idSchema, PageQuery, text, Timestamp } from "./primitives.ts";

export const Keyword = about(
  namedEnum("InboundKeyword", ["start", "stop", "help"]),
  "The keyword that is the whole message, in one of about twenty languages. `stop` has set the opt-out of the number. " +
    "`start` has lifted an opt-out that a `stop` had set. `help` has no effect. The gateway does not reply to keywords.",
);
export type Keyword = z.infer<typeof Keyword>;

/** A message that someone has sent to a number of an organization. */
export const InboundMessage = namedObject("InboundMessage", {
  id: idSchema("inb"),
  from: about(z.string(), "The number of the phone, or the name or short code that it came from."),
  to: about(z.string(), "Your number, or the short code, that it was sent to."),
  message: z.string(),
  keyword: z.optional(Keyword),
  receivedAt: Timestamp,
  test: about(z.optional(z.literal(true)), "Present for a test. Its keyword has no effect."),
});
export type InboundMessage = z.infer<typeof InboundMessage>;

export const InboundQuery = z.safeExtend(PageQuery, {
  test: about(
    z.optional(BooleanParameter),
    "With `true`, the list has test messages instead of live ones. A test key always gets test messages.",
  ),
});
export type InboundQuery = z.infer<typeof InboundQuery>;

export const TestInboundRequest = withExample(
  namedStrictObject("TestInboundRequest", {
    from: PhoneNumber,
    to: about(
      z.string().check(z.regex(/^[0-9A-Za-z]{1,15}$/, "must be 1 to 15 letters and digits")),
      "Any number, short code or sender ID; it need not be yours.",
    ),
    message: text(1_600).check(z.minLength(1, "must not be empty")),
  }),
  { from: "15005550000", to: "12065550100", message: "Yes, please" },
);
export type TestInboundRequest = z.infer<typeof TestInboundRequest>;

/** A number that people can write to, and whose messages the organization gets. */
export const AssignedNumber = namedObject("AssignedNumber", {
  number: about(z.string(), "In international digits without a plus sign, or a short code."),
  keyword: about(
    z.optional(z.string()),
    "Where others share the number: the word that messages to you begin with.",
  ),
});
export type AssignedNumber = z.infer<typeof AssignedNumber>;
