import type { Estimate, EstimateSmsRequest } from "../contract/sms.ts";
import { amountOf } from "../wallet/money.ts";
import { readWallet } from "../wallet/record.ts";
import { checkDestination } from "./policies.ts";
import { quote } from "./quote.ts";
import { presentPricing } from "./record.ts";

/**
 * What a message would cost, and whether the balance covers it. Nothing is debited and nothing is kept.
 * @throws ApiError DESTINATION_NOT_ALLOWED, WALLET_MISSING
 */
export async function estimateMessage(
  organizationId: string,
  request: EstimateSmsRequest,
): Promise<Estimate> {
  checkDestination(request.to);
  const { balanceMicros, closedAt } = await readWallet(organizationId);
  const quoted = quote(request);
  return {
    to: request.to,
    encoding: quoted.encoding,
    pricing: presentPricing(quoted),
    balance: amountOf(balanceMicros),
    isCovered: closedAt === undefined && balanceMicros >= quoted.totalMicros,
  };
}
