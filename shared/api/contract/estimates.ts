import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { SenderRule } from "./sender-rules.ts";
import { Encoding, Pricing, SendSmsRequest } from "./sms.ts";

/** A whole send request, so that the same body can be estimated and then sent. */
export const EstimateSmsRequest = z.extend(SendSmsRequest, {}).register(z.globalRegistry, {
  id: "EstimateSmsRequest",
  examples: [{ to: "15005550007", message: "Your code is 123456" }],
});
export type EstimateSmsRequest = z.infer<typeof EstimateSmsRequest>;

export const Estimate = namedObject("Estimate", {
  to: PhoneNumber,
  encoding: Encoding,
  pricing: Pricing,
  balance: about(z.number(), "Always 0 for a test message."),
  isCovered: about(z.boolean(), "Whether the balance covers the message now."),
  senderRule: about(
    z.optional(SenderRule),
    "The rule of the recipient's country for the sender ID of the request, or the default one. Absent for a number as the " +
      "sender, and for countries whose rule is not known.",
  ),
});
export type Estimate = z.infer<typeof Estimate>;
