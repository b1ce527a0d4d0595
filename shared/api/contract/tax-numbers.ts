import * as z from "zod/mini";

import { text } from "./primitives.ts";

/** A VAT number as people write it. The form of its country is checked where the country is known. */
export const VatNumber = text(40).check(
  z.regex(/^\s*[A-Za-z]/, "must be a VAT number with the code of its country, such as DE136695976"),
);

/** A tax number of any country, which is printed and decides nothing. */
export const TaxNumber = text(30).check(
  z.regex(/^[A-Za-z0-9]([A-Za-z0-9./ -]*[A-Za-z0-9])?$/, "must have letters, digits, spaces and - . / only"),
);
