import { setTimeout as delay } from "node:timers/promises";

import { ApiError } from "../../api/contract/errors.ts";
import type { operatorTransactionTypes } from "../../api/contract/wallet.ts";
import { isAwsError } from "../../platform/aws/errors.ts";
import { now, secondMs } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { isFree, leaseFieldNames } from "../../platform/table/lease.ts";
import { findItem } from "../../platform/table/read.ts";
import { ledgerKey } from "../../platform/table/shards.ts";
import { tryTransact } from "../../platform/table/transact.ts";
import { type Update, updateOf, type Write } from "../../platform/table/write.ts";
import { ledgerEntry, LedgerEntryRecord, type OfMessage } from "./ledger.ts";
import { lockWallet, unlockWallet } from "./lock.ts";
import { isLow, readWallet, walletClosed, type WalletRecord } from "./record.ts";
import { settling, toBeSettled, type Settlement } from "./settlement.ts";
import { unreserve, type AcceptedOfDay } from "./spending-limits.ts";

/** A change of the balance that is not a charge for messages. */
export interface Posting extends OfMessage {
  readonly organizationId: string;
  readonly type: (typeof operatorTransactionTypes)[number] | "refund" | "top_up";
  /** Negative when money leaves the wallet. */
  readonly amountMicros: number;
  readonly messageId?: string;
  /** The operator's reason, and the reference of the movement. */
  readonly reason?: string;
  readonly reference?: string;
  /** The payment that the ledger entry names. If it is the wallet's present recharge, the recharge ends. */
  readonly paymentId?: string;
  /** Whether an erased wallet rejects it. */
  readonly needsCustomer?: boolean;
  /** Returns more writes for its transaction. They may depend on the wallet after the posting. */
  readonly together?: (after: WalletRecord) => readonly Write[];
  /** Messages of a lost debit, which this posting refunds. The wallet no longer counts them as accepted on their day. */
  readonly notAccepted?: AcceptedOfDay;
  /** The settlement that a refund of the reconciler belongs to. */
  readonly settlement?: Settlement;
}

/** Above this an amount in micro-units is not exact. */
const maxBalanceMicros = Number.MAX_SAFE_INTEGER;

/** How often and for how long a posting is tried while other changes of the wallet come first. */
const postingAttempts = 100;
const postingTimeMs = 8 * secondMs;
const maxPostingDelayMs = 50;

/**
 * Changes a wallet's balance and writes its ledger entry, in one transaction that requires the `seq` that it saw. It therefore
 * never leaves a gap in the ledger, and every gap is a charge for messages.
 * @returns the wallet after it; undefined when `together` or another settlement caused a rejection
 * @throws ApiError WALLET_MISSING; INSUFFICIENT_BALANCE, except for a chargeback. CONFLICT above the largest balance, and when it
 *   needs a customer who was erased. UNAVAILABLE when too many others came first
 */
export async function postToWallet(posting: Posting): Promise<WalletRecord | undefined> {
  const { organizationId } = posting;
  const entryId = newId("txn");
  const deadline = now().getTime() + postingTimeMs;
  // On most wallets nothing comes in between, so the first attempt saves the write that locks.
  const seen = await readWallet(organizationId);
  let result: Result = isFree(seen, now())
    ? await tryPosting(seen, posting, entryId)
    : { outcome: "contended" };
  for (let attempt = 1; attempt < postingAttempts && now().getTime() < deadline; attempt += 1) {
    if (result.outcome !== "contended") break;
    await delay(Math.random() * maxPostingDelayMs);
    const locked = await lockWallet(organizationId);
    if (locked === undefined) continue;
    try {
      result = await tryPosting(locked, posting, entryId);
    } finally {
      // A posting removes the lock itself.
      if (result.outcome !== "posted") await unlockWallet(locked);
    }
  }
  if (result.outcome === "contended") throw new ApiError("UNAVAILABLE");
  return result.outcome === "posted" ? result.wallet : undefined;
}

/** The result of one try. A contended posting may succeed later, and a rejected one never does. */
type Result =
  | { readonly outcome: "contended" | "rejected" }
  | { readonly outcome: "posted"; readonly wallet: WalletRecord };

async function tryPosting(seen: WalletRecord, posting: Posting, entryId: string): Promise<Result> {
  // Another pass of the reconciler came first and settled the same seqs.
  if (posting.settlement !== undefined && seen.settledSeq !== posting.settlement.from) {
    return { outcome: "rejected" };
  }
  const after = walletAfter(seen, posting, entryId);
  // One attempt, because after a concurrent debit the seq is another one, and the same writes would be rejected.
  const result = await tryTransact(writesOf(seen, after, posting), 1).catch(async (error: unknown) =>
    resolveAmbiguousPosting(after, entryId, error),
  );
  if (result.outcome === "committed") return { outcome: "posted", wallet: after };
  if (result.outcome === "contended") return result;
  const { entry, together } = result.rejections;
  // An earlier attempt may have succeeded although its response was lost: then the entry at its seq is its own.
  if (entry?.found !== undefined && LedgerEntryRecord.parse(entry.found).id === entryId) {
    return { outcome: "posted", wallet: after };
  }
  return { outcome: together === undefined ? "contended" : "rejected" };
}

function writesOf(seen: WalletRecord, after: WalletRecord, posting: Posting) {
  return {
    wallet: walletUpdate(seen, after, posting),
    entry: ledgerEntry({
      ...ledgerKey(after, after.seq),
      entity: "ledgerEntry",
      id: after.lastId,
      organizationId: posting.organizationId,
      type: posting.type,
      seq: after.seq,
      amountMicros: posting.amountMicros,
      balanceAfterMicros: after.balanceMicros,
      feeCount: after.feeCount,
      messageId: posting.messageId,
      country: posting.country,
      segments: posting.segments,
      campaignId: posting.campaignId,
      verificationId: posting.verificationId,
      paymentId: posting.paymentId,
      reason: posting.reason,
      reference: posting.reference,
      createdAt: after.lastAt,
    }),
    together: posting.together?.(after) ?? [],
  };
}

/** Resolves a posting whose response was lost, by its entry. Without an entry it may still be applied, so the caller receives a 503. */
async function resolveAmbiguousPosting(after: WalletRecord, entryId: string, error: unknown) {
  const { organizationId, seq } = after;
  // The command of an operator without the right prints the cause.
  if (!isAwsError(error, "AccessDeniedException"))
    log.warn("wallet.posting_ambiguous", { organizationId, error });
  const entry = await findItem(LedgerEntryRecord, ledgerKey(after, seq), { consistent: true }).catch(
    () => undefined,
  );
  if (entry?.id === entryId) return { outcome: "committed" } as const;
  throw new ApiError("UNAVAILABLE", { cause: error });
}

function walletAfter(seen: WalletRecord, posting: Posting, entryId: string): WalletRecord {
  if (seen.closedAt !== undefined && posting.type === "top_up") throw walletClosed();
  if (seen.erasedAt !== undefined && posting.needsCustomer === true) {
    throw new ApiError("CONFLICT", {
      message: "The organization was erased. Return the money to the customer.",
    });
  }
  const balanceMicros = seen.balanceMicros + posting.amountMicros;
  // A bank reverses a payment even if it was spent. A credit is allowed, because it reduces a negative balance.
  const mayBeNegative = posting.type === "chargeback" || posting.amountMicros > 0;
  if (balanceMicros < 0 && !mayBeNegative) throw new ApiError("INSUFFICIENT_BALANCE");
  if (Math.abs(balanceMicros) > maxBalanceMicros) {
    throw new ApiError("CONFLICT", { message: "The wallet cannot hold that much." });
  }
  const { leaseToken: _token, leaseUntil: _until, ...rest } = seen;
  return { ...rest, balanceMicros, seq: seen.seq + 1, lastId: entryId, lastAt: now().toISOString() };
}

function walletUpdate(seen: WalletRecord, after: WalletRecord, posting: Posting): Update<"wallet"> {
  const { type, settlement, notAccepted, paymentId, needsCustomer = false } = posting;
  const { balanceMicros, seq, lastId, lastAt } = after;
  const settled = settlement === undefined ? undefined : settling(settlement);
  const { add: givenBack, requires } = notAccepted === undefined ? {} : unreserve(seen, notAccepted);
  const mustBeAbsent =
    type === "top_up" ? (["closedAt"] as const) : needsCustomer ? (["erasedAt"] as const) : [];
  const endsRecharge = type === "payment" && paymentId !== undefined && paymentId === seen.rechargeId;
  const { set, setIfAbsent } = toBeSettled(seen.organizationId, lastAt);
  return updateOf(
    keys.wallet(seen.organizationId),
    {
      set: { ...set, balanceMicros, seq, lastId, lastAt, ...settled?.set },
      setIfAbsent,
      add: { ...settled?.add, ...givenBack },
      remove: [
        ...leaseFieldNames,
        ...(isLow(after) ? [] : (["lowBalanceNotedAt"] as const)),
        ...(endsRecharge ? (["rechargeId", "rechargeNotBefore"] as const) : []),
      ],
    },
    {
      is: {
        seq: seen.seq,
        ...settled?.is,
        ...requires?.is,
        ...(endsRecharge ? { rechargeId: paymentId } : {}),
      },
      present: requires?.present ?? [],
      absent: [...(requires?.absent ?? []), ...mustBeAbsent],
    },
  );
}
