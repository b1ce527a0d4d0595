import * as z from "zod/mini";

import { about } from "./about.ts";
import { Currency } from "./primitives.ts";

export const VerificationPricing = z
  .object({
    message: about(z.number(), "The price of its messages so far; failed ones are refunded."),
    fee: about(z.number(), "The fee, which only an approved verification keeps. 0 once it is returned."),
    currency: Currency,
  })
  .register(z.globalRegistry, { id: "VerificationPricing" });
