import * as z from "zod/mini";

import { Currency } from "./primitives.ts";

export const VerificationPricing = z
  .object({
    message: z.number().register(z.globalRegistry, {
      description: "The price of its messages so far; failed ones are refunded.",
    }),
    fee: z.number().register(z.globalRegistry, {
      description: "The fee, which only an approved verification keeps. 0 once it is returned.",
    }),
    currency: Currency,
  })
  .register(z.globalRegistry, { id: "VerificationPricing" });
