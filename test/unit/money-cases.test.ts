import { expect, it } from "vitest";
import * as z from "zod/mini";

import { exchangeRateWarning } from "../../infra/stages/payment-checks.ts";
import { ConsistentSettings } from "../../infra/stages/settings.ts";
import { stageNamed } from "../../infra/stages/stage.ts";
import { BillingDetails } from "../../shared/api/contract/billing.ts";
import { ApiError, type ErrorDetail } from "../../shared/api/contract/errors.ts";
import { validate } from "../../shared/api/contract/validation.ts";
import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import { DocumentRecord } from "../../shared/money/invoices/record.ts";
import { checkedDetails } from "../../shared/money/payments/billing-details.ts";
import { localTaxOf } from "../../shared/money/payments/local-tax.ts";
import { taxOf } from "../../shared/money/payments/tax.ts";
import { casesOf, type KindOf } from "../support/cases.ts";
import { invoice } from "../support/invoices.ts";
import { linesOfPdf } from "../support/pdf.ts";
import { setPayments } from "../support/stored-payments.ts";

const address = ["1 Sample Street"];
const payments = (seller: string, tax: object): object => ({
  seller: { name: "Example SMS", address, country: seller },
  tax,
});

const TaxCase = z.strictObject({
  seller: z._default(z.string(), "DE"),
  tax: z.record(z.string(), z.unknown()),
  buyer: z.record(z.string(), z.unknown()),
  /** An older release has stored the details, without a check. */
  stored: z._default(z.boolean(), false),
});
const InvoiceCase = z.strictObject({
  month: z._default(z.string(), "2026-11"),
  tax: z._default(z.record(z.string(), z.unknown()), {}),
  /** The fields of the document. Its seller is in Germany, and it has 19.00 EUR of tax. */
  document: z.record(z.string(), z.unknown()),
});
const StageCase = z.looseObject({ month: z._default(z.string(), "2026-11") });

/** One function for each kind of case. It returns what an operator or a customer reads. */
const kinds: Readonly<Record<KindOf<"money">, (input: unknown) => Promise<string> | string>> = {
  tax: (input) => {
    const { seller, tax, buyer, stored } = TaxCase.parse(input);
    setPayments(payments(seller, tax));
    const checked = validate(BillingDetails, { name: "Ada", ...buyer });
    if (!checked.success) return problems(checked.details);
    try {
      const details = stored ? checked.data : checkedDetails(checked.data);
      const { rate, note = "no note", reason = "no reason" } = taxOf(details);
      return `${details.vatNumber ?? "no number"}: ${rate} %; ${note}; ${reason}`;
    } catch (error) {
      return error instanceof ApiError ? problems(error.details) : String(error);
    }
  },
  invoice: async (input) => {
    const { month, tax, document } = InvoiceCase.parse(input);
    const changed = DocumentRecord.parse({ ...invoice(), ...document });
    setPayments(payments(changed.seller.country, tax));
    const localTax = localTaxOf(changed, undefined, month);
    const lines = linesOfPdf(await renderPdf({ ...changed, localTax })).flat();
    return lines.join("; ").replaceAll("\u00A0", " ");
  },
  stage: (input) => {
    const { month, ...settings } = StageCase.parse(input);
    const { policies } = stageNamed("dev");
    const least = { carrier: "sandbox", keepData: false, policies };
    const checked = validate(ConsistentSettings, { ...least, ...settings }, "setting");
    if (!checked.success) return problems(checked.details);
    return `valid; ${exchangeRateWarning(checked.data, month) ?? "no warning"}`;
  },
};

function problems(details: readonly ErrorDetail[] = []): string {
  return details.map(({ path, message }) => `400 ${path} ${message}`).join("; ");
}

it.each(casesOf("money"))("$title", async ({ kind, input, expected }) => {
  expect(await kinds[kind](input)).toMatch(new RegExp(expected, "s"));
});
