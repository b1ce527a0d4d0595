import { ApiError } from "../contract/errors.ts";
import { now } from "../platform/clock.ts";
import { once } from "../platform/http/idempotency.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import type { allowanceFields } from "./allowances.ts";
import { amountOf } from "./money.ts";
import { postToWallet } from "./post.ts";
import { WalletRecord } from "./record.ts";

/*
 * What only the operator of the gateway does with a wallet.
 */

export interface Adjustment {
  readonly organizationId: string;
  /** In micro-units; negative to take money. */
  readonly amountMicros: number;
  /** The customer reads it in the ledger. */
  readonly reason: string;
  /** The same adjustment again, known by its reference for 24 hours, changes nothing. */
  readonly reference: string;
}

/**
 * Credits or charges a wallet by hand.
 * @returns the balance after it, in currency units, and whether an earlier call had already done it
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; IDEMPOTENCY_KEY_REUSED when the reference came with
 *   another adjustment before; UNAVAILABLE
 */
export async function adjustWallet(
  adjustment: Adjustment,
): Promise<{ readonly balance: number; readonly replayed: boolean }> {
  const { organizationId, amountMicros, reason, reference } = adjustment;
  // A customer's own keys have no spaces, so the two never meet.
  const key = `operator adjustment ${reference}`;
  const { answer, replayed } = await once(
    { organizationId, key, content: [amountMicros, reason] },
    async (attempt) => {
      const wallet = await postToWallet({
        organizationId,
        type: "adjustment",
        amountMicros,
        reason,
        together: (after) => [attempt.complete(amountOf(after.balanceMicros))],
      });
      if (wallet === undefined) throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
      return amountOf(wallet.balanceMicros);
    },
  );
  return { balance: Number(answer), replayed };
}

/**
 * Keeps a wallet from being used: sends and top-ups are refused, refunds and adjustments still arrive.
 * @param reason for other operators; customers do not see it
 * @returns the wallet; one that was closed before stays closed since then, for the reason of then
 * @throws ApiError WALLET_MISSING
 */
export async function closeWallet(organizationId: string, reason: string): Promise<WalletRecord> {
  const set = { closedAt: now().toISOString(), closedReason: reason };
  const closed = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), { set }, { present: ["pk"], absent: ["closedAt"] }),
  );
  if (closed.applied) return closed.item;
  if (closed.found === undefined) throw new ApiError("WALLET_MISSING");
  return WalletRecord.parse(closed.found);
}

/**
 * Lets a closed wallet be used again.
 * @throws ApiError WALLET_MISSING
 */
export async function reopenWallet(organizationId: string): Promise<WalletRecord> {
  const remove = ["closedAt", "closedReason"];
  const reopened = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), { remove }, { present: ["pk"] }),
  );
  if (!reopened.applied) throw new ApiError("WALLET_MISSING");
  return reopened.item;
}

/**
 * Says what an organisation may spend in a day, whatever the stage says.
 * @param cap in micro-units; undefined leaves it to the stage
 * @throws ApiError WALLET_MISSING
 */
export async function capSpending(
  organizationId: string,
  cap: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorDailyCap", cap, ["spendLeftMicros"]);
}

/**
 * Says how many messages an organisation may send in a second, whatever the stage says.
 * @param sends undefined leaves it to the stage
 * @throws ApiError WALLET_MISSING
 */
export async function paceSends(
  organizationId: string,
  sends: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorSendsPerSecond", sends, ["paceLeft", "paceSince"]);
}

/** Changes a limit, and takes away what is left of it: the next debit reckons anew. */
async function limit(
  organizationId: string,
  field: keyof typeof allowanceFields,
  value: number | "none" | undefined,
  left: readonly (keyof typeof allowanceFields)[],
): Promise<WalletRecord> {
  const changes = { set: { [field]: value }, remove: value === undefined ? [field, ...left] : left };
  const changed = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), changes, { present: ["pk"] }),
  );
  if (!changed.applied) throw new ApiError("WALLET_MISSING");
  return changed.item;
}
