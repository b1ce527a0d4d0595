import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { Currency } from "./primitives.ts";

export const VerificationPricing = namedObject("VerificationPricing", {
  message: about(z.number(), "The price of its messages so far; failed ones are refunded."),
  fee: about(z.number(), "The fee, which only an approved verification keeps. 0 once it is returned."),
  currency: Currency,
});
