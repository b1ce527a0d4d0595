import * as z from "zod/mini";

import { Country } from "./countries.ts";
import { EmailAddress } from "./email-addresses.ts";
import { TimeZone } from "./key-limits.ts";
import { Month } from "./primitives.ts";
import { TaxNumber, VatNumber } from "./tax-numbers.ts";

const Line = z.string().check(z.minLength(1), z.maxLength(100));
const PaymentAmount = z
  .string()
  .check(z.regex(/^(?=.*[1-9])\d{1,7}(\.\d{1,2})?$/, 'must be an amount such as "50.00"'));

/** The operator, as invoices name it. */
const Seller = z.strictObject({
  name: Line,
  address: z.array(Line).check(z.minLength(1), z.maxLength(6)),
  country: Country,
  vatNumber: z.optional(VatNumber),
  taxNumber: z.optional(TaxNumber),
  email: z.optional(EmailAddress),
  /** The zone of the dates on documents, and of the years of their numbers. */
  timeZone: z._default(TimeZone, "UTC"),
});

const Percent = z.number().check(
  z.gte(0),
  z.lte(50),
  z.refine((percent) => percent === 0 || percent >= 1, "is below 1 %: write 20 for 20 %"),
);
const ExchangeRate = z
  .string()
  .check(z.regex(/^(?=.*[1-9])\d{1,6}(\.\d{1,8})?$/, 'must be an exchange rate such as "0.7812"'));

/** The default bounds of a payment, in currencies whose amounts are like those of dollars. */
export const defaultMinimum = "5.00";
export const defaultMaximum = "1000.00";

/** How customers of a stage pay, as its file has it. */
export const PaymentSettings = z
  .strictObject({
    /** `sandbox` is the local gateway's own provider, whose cards are for tests. */
    cards: z._default(z.enum(["none", "sandbox", "stripe"]), "none"),
    /** The text on how to pay by bank transfer. Without it, customers cannot choose that. */
    bankTransfer: z.optional(z.string().check(z.minLength(1), z.maxLength(1_000))),
    /** The bounds of one payment, without tax, in the stage's currency. Stages of some currencies state both. */
    minimum: z.optional(PaymentAmount),
    maximum: z.optional(PaymentAmount),
    /** The most that the saved cards of a customer are charged in a day (UTC), without tax. Default: five payments of the maximum. */
    dailyMaximum: z.optional(PaymentAmount),
    /** Without a seller there are no invoices. */
    seller: z.optional(Seller),
    tax: z._default(
      z.strictObject({
        /** The rate for buyers in each country. Others pay no tax. */
        rates: z._default(z.partialRecord(Country, Percent), {}),
        /** The countries whose buyers owe the tax themselves if they have a VAT number. */
        reverseCharge: z._default(z.array(Country), []),
        /** By month, the units of the currency of the seller's country that one unit of the stage's currency has. */
        exchangeRates: z._default(z.record(Month, ExchangeRate), {}),
      }),
      { rates: {}, reverseCharge: [], exchangeRates: {} },
    ),
  })
  .check(
    z.refine(({ dailyMaximum, maximum = defaultMaximum }) => !(Number(dailyMaximum) < Number(maximum)), {
      path: ["dailyMaximum"],
      error: "must be at least maximum",
    }),
    z.refine(({ minimum = defaultMinimum, maximum = defaultMaximum }) => Number(minimum) <= Number(maximum), {
      path: ["minimum"],
      error: "must be at most maximum",
    }),
  );
export type PaymentSettings = z.infer<typeof PaymentSettings>;
