import { ApiError } from "../../api/contract/errors.ts";
import type { TopUpRequest, Wallet } from "../../api/contract/wallet.ts";
import { config } from "../../platform/config.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { microsOfField } from "./money.ts";
import { postToWallet } from "./post.ts";
import { toApiWallet } from "./record.ts";

/**
 * Adds money without a payment, for development. Stages with real customers disable it.
 * @throws ApiError TOP_UP_DISABLED, VALIDATION_ERROR, WALLET_MISSING, CONFLICT
 */
export async function topUpWallet(
  organizationId: string,
  { amount }: TopUpRequest,
  attempt?: Attempt,
): Promise<Wallet> {
  if (!config.topUpEnabled()) throw new ApiError("TOP_UP_DISABLED");
  const wallet = await postToWallet({
    organizationId,
    type: "top_up",
    amountMicros: microsOfField("amount", amount),
    ...(attempt === undefined ? {} : { together: (after) => [attempt.complete(toApiWallet(after))] }),
  });
  // Only a later attempt at the same request can have caused the rejection of this one.
  if (wallet === undefined) throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
  return toApiWallet(wallet);
}
