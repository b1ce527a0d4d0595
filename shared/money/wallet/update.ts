import { invalidField } from "../../api/contract/errors.ts";
import type { UpdateWalletRequest, Wallet } from "../../api/contract/wallet.ts";
import { now } from "../../platform/clock.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import { changesOfPatch, updateItem, updateOf } from "../../platform/table/write.ts";
import { amountOf, microsOfField } from "./money.ts";
import { toApiWallet, readWallet, WalletRecord } from "./record.ts";
import { operatorCapMicros } from "./spending-limits.ts";

/**
 * Changes the fields of a wallet that a customer may set.
 * @throws ApiError VALIDATION_ERROR for a cap above the operator's, and for more decimals than the currency has; WALLET_MISSING; UNAVAILABLE
 */
export async function updateWallet(organizationId: string, request: UpdateWalletRequest): Promise<Wallet> {
  return untilUndisturbed(async () => {
    const changed = await change(await readWallet(organizationId), request);
    return changed === undefined ? undefined : toApiWallet(changed);
  });
}

/** @returns the wallet after it; undefined if its balance has crossed the new threshold meanwhile */
async function change(
  wallet: WalletRecord,
  { dailySpendCap, lowBalanceThreshold }: UpdateWalletRequest,
): Promise<WalletRecord | undefined> {
  if (dailySpendCap === undefined && lowBalanceThreshold === undefined) return wallet;
  const capMicros = newCapMicros(wallet, dailySpendCap);
  const thresholdMicros = microsOrNull("lowBalanceThreshold", lowBalanceThreshold);
  const isLow = wallet.balanceMicros < (thresholdMicros ?? 0);
  const changes = changesOfPatch<"wallet">({
    // The next debit calculates what is left of the cap.
    ...(capMicros === undefined ? {} : { customerDailyCapMicros: capMicros, spendLeftMicros: null }),
    // A customer who sets a threshold above the balance knows that it is low. Only a falling balance causes the event.
    ...(thresholdMicros === undefined
      ? {}
      : {
          lowBalanceThresholdMicros: thresholdMicros,
          lowBalanceNotedAt: isLow ? now().toISOString() : null,
        }),
  });
  const requirements: Requirements<"wallet"> = {
    present: ["pk"],
    ...(typeof thresholdMicros === "number"
      ? { [isLow ? "below" : "atLeast"]: { balanceMicros: thresholdMicros } }
      : {}),
  };
  const updated = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(wallet.organizationId), changes, requirements),
  );
  return updated.applied ? updated.item : undefined;
}

/**
 * Returns a customer's new cap; null for none, undefined for no change.
 * @throws ApiError VALIDATION_ERROR for a cap above the operator's, and for more decimals than the currency has
 */
export function newCapMicros(
  wallet: WalletRecord,
  dailySpendCap: UpdateWalletRequest["dailySpendCap"],
): number | null | undefined {
  const capMicros = microsOrNull("dailySpendCap", dailySpendCap);
  const highestMicros = operatorCapMicros(wallet) ?? Infinity;
  if ((capMicros ?? 0) > highestMicros) {
    throw invalidField("dailySpendCap", `must be at most ${amountOf(highestMicros)}, the operator's cap`);
  }
  return capMicros === (wallet.customerDailyCapMicros ?? null) ? undefined : capMicros;
}

function microsOrNull(path: string, amount: number | null | undefined): number | null | undefined {
  return typeof amount === "number" ? microsOfField(path, amount) : amount;
}
