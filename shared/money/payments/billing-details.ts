import { isDeepStrictEqual } from "node:util";

import type { Billing, BillingDetails } from "../../api/contract/billing.ts";
import { invalidField } from "../../api/contract/errors.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateOf } from "../../platform/table/write.ts";
import { changeNotices } from "../../tenancy/organizations/owner-notices.ts";
import { checkDrawable } from "../invoices/characters.ts";
import { readBilling, toApiBilling } from "./billing-record.ts";
import { taxCountryOf } from "./tax.ts";
import { readVatNumber } from "./vat-numbers.ts";

/** Returns billing details with the VAT number as its country writes it. @throws ApiError VALIDATION_ERROR for another number */
export function checkedDetails(details: BillingDetails): BillingDetails {
  if (details.vatNumber === undefined) return details;
  const read = readVatNumber(details.vatNumber, taxCountryOf(details));
  if ("problem" in read) throw invalidField("vatNumber", read.problem);
  return { ...details, vatNumber: read.number };
}

/** Returns what invoices show of billing details. */
function buyerIn({ emails: _emails, ...buyer }: BillingDetails): Omit<BillingDetails, "emails"> {
  return buyer;
}

/**
 * Replaces the billing details of an organization. Payments and their documents keep the earlier ones.
 * @throws ApiError VALIDATION_ERROR for a name or an address that invoices cannot show, and for a wrong VAT number
 */
export async function saveBillingDetails(organizationId: string, request: BillingDetails): Promise<Billing> {
  checkDrawable(request);
  const details = checkedDetails(request);
  const billing = await readBilling(organizationId);
  const { payments, warnings } = billing.details?.emails ?? {};
  const isSame = isDeepStrictEqual(
    { payments, warnings },
    { payments: undefined, warnings: undefined, ...details.emails },
  );
  // The first details replace none.
  const isOtherBuyer =
    billing.details !== undefined && !isDeepStrictEqual(buyerIn(details), buyerIn(billing.details));
  const notices = [
    ...(isSame ? [] : await changeNotices(organizationId, "recipientsChanged")),
    ...(isOtherBuyer ? await changeNotices(organizationId, "billingChanged") : []),
  ];
  const set = { entity: "billing", organizationId, details };
  await transactWithEmails(notices, {
    billing: updateOf(keys.billing(organizationId), { set }),
  });
  return toApiBilling({ ...billing, details });
}
