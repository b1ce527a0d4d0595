import * as z from "zod";

import { Country } from "./countries.ts";
import { Currency, PageQuery } from "./primitives.ts";

/** Kosovo has a country code, and no code of ISO 3166-1. */
const CountryOfPrice = Country.or(z.literal("XK"));

export const PricesQuery = PageQuery.safeExtend({
  prefix: z
    .string()
    .regex(/^[+ ]?\d{1,15}$/, "must be 1 to 15 digits")
    // A plus sign that was not encoded arrives as a space.
    .overwrite((prefix) => prefix.replace(/^[+ ]/, ""))
    .optional()
    .meta({
      description: "A number, or what numbers begin with: the prices that count for them, and no others.",
    }),
  country: CountryOfPrice.optional(),
});
export type PricesQuery = z.infer<typeof PricesQuery>;

export const Price = z
  .object({
    prefix: z.string().meta({
      description:
        "What the numbers begin with; of several the longest counts. Empty for all that no other price is for.",
    }),
    country: z.string().optional().meta({
      description: "An ISO 3166-1 code, or XK for Kosovo. Absent where it is one of several, or none.",
    }),
    unitPrice: z.number().meta({ description: "Price of one segment." }),
    currency: Currency,
  })
  .meta({ id: "Price" });
export type Price = z.infer<typeof Price>;
