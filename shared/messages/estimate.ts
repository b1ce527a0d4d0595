import type { OrganizationRecord } from "../accounts/organizations/record.ts";
import type { Estimate, EstimateSmsRequest } from "../contract/sms.ts";
import { now } from "../platform/clock.ts";
import { readPrices } from "../prices/prices.ts";
import { amountOf } from "../wallet/money.ts";
import { readWallet } from "../wallet/record.ts";
import { checkDestination } from "./policies.ts";
import { quote } from "./quote.ts";
import { toApiPricing } from "./record.ts";
import { testPrices } from "./test-messages.ts";

/**
 * Returns the cost of a message, and whether the balance covers it. Nothing is debited and nothing is stored.
 * @param isTest whether for a test key, which may not read the balance and needs none
 * @throws ApiError DESTINATION_NOT_ALLOWED, DESTINATION_NOT_PRICED, WALLET_MISSING, in this order; UNAVAILABLE
 */
export async function estimateMessage(
  organization: OrganizationRecord,
  request: EstimateSmsRequest,
  { isTest = false } = {},
): Promise<Estimate> {
  if (!isTest) checkDestination(request.to);
  const prices = await readPrices(organization, now());
  const quoted = quote(request, isTest ? testPrices(prices) : prices);
  const estimated = { to: request.to, encoding: quoted.encoding, pricing: toApiPricing(quoted) };
  if (isTest) return { ...estimated, balance: 0, isCovered: true };
  const { balanceMicros, closedAt } = await readWallet(organization.id);
  return {
    ...estimated,
    balance: amountOf(balanceMicros),
    isCovered: closedAt === undefined && balanceMicros >= quoted.totalMicros,
  };
}
