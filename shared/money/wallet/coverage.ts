import { readLedger } from "./ledger.ts";
import { readWallet } from "./record.ts";
import { spendLeftMicros } from "./spending-limits.ts";

/** How many of the first prices a wallet covers now, and the reason why it does not cover the next one. */
interface Coverage {
  readonly count: number;
  readonly reason?: "DAILY_SPEND_CAP_REACHED" | "INSUFFICIENT_BALANCE";
}

/** Returns how many of the first prices the balance and the daily cap cover. */
export async function coverageOf(organizationId: string, pricesMicros: readonly number[]): Promise<Coverage> {
  const wallet = await readWallet(organizationId);
  const capMicros = spendLeftMicros(wallet);
  let sumMicros = 0;
  const count = pricesMicros.findIndex((price) => {
    sumMicros += price;
    return sumMicros > Math.min(wallet.balanceMicros, capMicros);
  });
  if (count === -1) return { count: pricesMicros.length };
  const reason = sumMicros > wallet.balanceMicros ? "INSUFFICIENT_BALANCE" : "DAILY_SPEND_CAP_REACHED";
  return { count, reason };
}

/** The most entries that are read for a lost debit. A wallet with more of them since then has paid for others. */
const maxUnsettled = 2_000;

/**
 * Whether a debit has no record in the ledger, or its record is void and the reconciler has not returned the money yet. A
 * charge that is in progress counts too, because nothing distinguishes it.
 */
export async function hasLostDebit(organizationId: string): Promise<boolean> {
  const wallet = await readWallet(organizationId);
  const { seq, settledSeq } = wallet;
  const from = Math.max(settledSeq, seq - maxUnsettled) + 1;
  const entries = await readLedger(wallet, { from, to: seq, limit: maxUnsettled });
  const recorded = entries.filter(({ type, isReturned }) => type !== "void" || isReturned === true);
  return recorded.length < seq - from + 1;
}
