import type { OrganizationRecord } from "../accounts/organizations/record.ts";
import type { Estimate, EstimateSmsRequest } from "../contract/sms.ts";
import { now } from "../platform/clock.ts";
import { readPrices } from "../prices/prices.ts";
import { amountOf } from "../wallet/money.ts";
import { readWallet } from "../wallet/record.ts";
import { checkDestination } from "./policies.ts";
import { quote } from "./quote.ts";
import { toApiPricing } from "./record.ts";

/**
 * Returns the cost of a message, and whether the balance covers it. Nothing is debited and nothing is stored.
 * @throws ApiError DESTINATION_NOT_ALLOWED, DESTINATION_NOT_PRICED, WALLET_MISSING, in this order; UNAVAILABLE
 */
export async function estimateMessage(
  organization: OrganizationRecord,
  request: EstimateSmsRequest,
): Promise<Estimate> {
  checkDestination(request.to);
  const quoted = quote(request, await readPrices(organization, now()));
  const { balanceMicros, closedAt } = await readWallet(organization.id);
  return {
    to: request.to,
    encoding: quoted.encoding,
    pricing: toApiPricing(quoted),
    balance: amountOf(balanceMicros),
    isCovered: closedAt === undefined && balanceMicros >= quoted.totalMicros,
  };
}
