import { setTimeout as delay } from "node:timers/promises";

import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { whileFree } from "../../platform/table/lease.ts";
import { ledgerKey } from "../../platform/table/shards.ts";
import { type Outcome, updateItem, updateOf } from "../../platform/table/write.ts";
import type { NewLedgerEntry, OfMessage } from "./ledger.ts";
import { logPending, notifyCapReached } from "./notify.ts";
import { requestRecharge } from "./recharge.ts";
import { findWallet, walletClosed, WalletRecord } from "./record.ts";
import { toBeSettled } from "./settlement.ts";
import {
  capReached,
  obstacleOf,
  sendRateExceeded,
  startDay,
  startSecond,
  reserve,
  type AcceptedOfDay,
  type Reservation,
} from "./spending-limits.ts";

/** How often a debit is tried while postings lock the wallet, and the longest delay in between. */
const debitAttempts = 100;
const maxDebitDelayMs = 50;

/** The price of one message, or the fee of a verification, with the fields that its entry has. */
export interface Charge extends OfMessage {
  readonly amountMicros: number;
  readonly isFee?: true;
}

/** The prices to debit. */
export interface Debit {
  readonly organizationId: string;
  readonly charges: readonly Charge[];
  readonly at: Date;
  /** How many sends they are for the rate limit. The worker of a campaign limits its messages itself. */
  readonly rateLimitedSends?: number;
  /** Stores the accepted messages of the previous day, before the wallet begins the next day. */
  readonly keepAccepted: (accepted: AcceptedOfDay) => Promise<void>;
}

/**
 * Debits prices from a balance: the first of the two writes of a charge.
 * @returns the wallet after it, and the ledger entries to write
 * @throws ApiError as `debitFor`
 */
export async function debitWallet(
  charging: Debit,
): Promise<{ readonly wallet: WalletRecord; readonly entries: NewLedgerEntry[] }> {
  const { organizationId, charges } = charging;
  const entryIds = charges.map(() => newId("txn"));
  const lastId = entryIds.at(-1) ?? "";
  for (let attempt = 1; attempt <= debitAttempts; attempt += 1) {
    const debited = await applyDebit(charging, lastId).catch(async (error: unknown) =>
      resolveAmbiguousDebit(organizationId, lastId, error),
    );
    if (debited.applied) {
      return { wallet: debited.item, entries: entriesOf(charging, debited.item, entryIds) };
    }
    if (debited.found === undefined) throw new ApiError("WALLET_MISSING");
    const wallet = WalletRecord.parse(debited.found);
    if (wallet.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
    if (wallet.pausedAt !== undefined) throw new ApiError("SENDING_PAUSED");
    if (wallet.closedAt !== undefined) throw walletClosed();
    if (wallet.balanceMicros < 0) throw new ApiError("BALANCE_NEGATIVE");
    if (wallet.balanceMicros < sumOf(charges)) {
      // An earlier recharge may have failed.
      await requestRecharge(wallet).catch(logPending);
      throw new ApiError("INSUFFICIENT_BALANCE");
    }
    switch (obstacleOf(wallet, reservationOf(charging))) {
      case "newDay":
        await startDay(wallet, charging.keepAccepted);
        break;
      case "newSecond":
        await startSecond(wallet);
        break;
      case "cap":
        await notifyCapReached(wallet).catch(logPending);
        throw capReached();
      case "rate":
        throw sendRateExceeded(wallet);
      case "none":
        // The only reason that remains: a posting has locked the wallet.
        await delay(Math.random() * maxDebitDelayMs);
    }
  }
  throw new ApiError("UNAVAILABLE", { isUncharged: true });
}

function reservationOf({ charges, rateLimitedSends = 0 }: Debit): Reservation {
  const fees = charges.filter(({ isFee }) => isFee);
  const sends = charges.length - fees.length;
  return { amountMicros: sumOf(charges), feeMicros: sumOf(fees), sends, rateLimitedSends };
}

async function applyDebit(debit: Debit, lastId: string): Promise<Outcome<WalletRecord>> {
  const { organizationId, charges, at } = debit;
  const reservation = reservationOf(debit);
  const limits = reserve(reservation);
  const amountMicros = sumOf(charges);
  const count = charges.length;
  const fees = count - reservation.sends;
  const lastAt = at.toISOString();
  const { set, setIfAbsent } = toBeSettled(organizationId, lastAt);
  return updateItem(
    WalletRecord,
    updateOf(
      keys.wallet(organizationId),
      {
        add: {
          balanceMicros: -amountMicros,
          seq: count,
          messageCount: count,
          ...(fees > 0 ? { feeCount: fees } : {}),
          ...limits.add,
        },
        set: { ...set, lastId, lastAt },
        setIfAbsent,
      },
      // A missing wallet fails this too, but without an old item, so that no extra read is needed.
      whileFree(now(), {
        absent: ["closedAt", "suspendedAt", "pausedAt"],
        atLeast: { balanceMicros: amountMicros, ...limits.atLeast },
      }),
    ),
    { singleEffect: true },
  );
}

/**
 * Resolves a debit whose response was lost, which is never sent again. If the wallet's last change has its id, it was applied,
 * and the send continues. Otherwise another change may have followed it, so the caller receives a 503. The reconciler refunds
 * the gap that the debit may have left.
 */
async function resolveAmbiguousDebit(
  organizationId: string,
  lastId: string,
  error: unknown,
): Promise<Outcome<WalletRecord>> {
  log.warn("wallet.debit_ambiguous", { organizationId, error });
  const wallet = await findWallet(organizationId).catch(() => undefined);
  if (wallet?.lastId === lastId) return { applied: true, item: wallet };
  throw new ApiError("UNAVAILABLE", { cause: error });
}

/** Calculates the seq of each price and the balance after it. @param after the wallet after the debit */
function entriesOf(
  { organizationId, charges, at }: Debit,
  after: WalletRecord,
  entryIds: readonly string[],
): NewLedgerEntry[] {
  const feesIn = (some: readonly Charge[]): number => some.filter(({ isFee }) => isFee).length;
  let seq = after.seq - charges.length;
  let balanceAfterMicros = after.balanceMicros + sumOf(charges);
  return charges.map(({ amountMicros, isFee = false, ...ofMessage }, index) => {
    seq += 1;
    balanceAfterMicros -= amountMicros;
    return {
      ...ledgerKey(after, seq),
      entity: "ledgerEntry",
      id: entryIds[index] ?? "",
      organizationId,
      type: isFee ? "verification_fee" : "message",
      seq,
      amountMicros: -amountMicros,
      balanceAfterMicros,
      feeCount: after.feeCount && after.feeCount - feesIn(charges.slice(index + 1)),
      ...ofMessage,
      createdAt: at.toISOString(),
    };
  });
}

/** Returns the sum of amounts in micro-units. */
export function sumOf(amounts: readonly Pick<Charge, "amountMicros">[]): number {
  return amounts.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
}
