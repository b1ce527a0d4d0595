import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { Country } from "./countries.ts";
import { Currency, PageQuery } from "./primitives.ts";

/** Kosovo has a country code, and no code of ISO 3166-1. */
const CountryOfPrice = z.union([Country, z.literal("XK")]);

export const PricesQuery = z.safeExtend(PageQuery, {
  prefix: about(
    z.optional(
      z.string().check(
        z.regex(/^[+ ]?\d{1,15}$/, "must be 1 to 15 digits"),
        // A plus sign that was not encoded arrives as a space.
        z.overwrite((prefix) => prefix.replace(/^[+ ]/, "")),
      ),
    ),
    "A number, or what numbers begin with: the prices that count for them, and no others.",
  ),
  country: z.optional(CountryOfPrice),
});
export type PricesQuery = z.infer<typeof PricesQuery>;

export const Price = namedObject("Price", {
  prefix: about(
    z.string(),
    "The prefix of the numbers. The longest matching prefix determines the price. An empty prefix matches all numbers.",
  ),
  country: about(
    z.optional(z.string()),
    "An ISO 3166-1 code, or XK for Kosovo. Absent where it is one of several, or none.",
  ),
  unitPrice: about(z.number(), "Price of one segment."),
  currency: Currency,
  blockedPrefixes: about(
    z.optional(z.array(z.string())),
    "Longer prefixes to whose numbers no messages are sent now (`DESTINATION_NOT_ALLOWED`). Absent if there are none.",
  ),
});
export type Price = z.infer<typeof Price>;
