import type { LedgerEntryRecord } from "../../money/wallet/ledger.ts";

/** The progress of a pass: all seqs up to this one are correct, and this is the balance after it. */
export interface Position {
  readonly seq: number;
  readonly balanceMicros: number;
  /** How many fees were debited up to this seq; undefined if its entry does not show it. */
  readonly feeCount: number | undefined;
  /** A time before the debits after this seq: a void entry may be much later than its debit, so its time does not count. */
  readonly at: string;
}

/** Returns the position at a settled seq whose entry is not read yet. At the beginning of a ledger nothing is before it. */
export function positionAt(seq: number): Position {
  return { seq, balanceMicros: 0, feeCount: seq === 0 ? 0 : undefined, at: new Date(0).toISOString() };
}

/** Returns the position before an entry, as the entry shows it, with a time after all debits before it. */
export function positionBefore(entry: LedgerEntryRecord): Position {
  const { seq, type, amountMicros, balanceAfterMicros, feeCount, createdAt: at } = entry;
  return {
    seq: seq - 1,
    balanceMicros: balanceAfterMicros - amountMicros,
    feeCount: type === "verification_fee" && feeCount !== undefined ? feeCount - 1 : feeCount,
    at,
  };
}

/** Returns the position at an entry, after another position. */
export function positionAfter(entry: LedgerEntryRecord, { at }: Position): Position {
  const { seq, type, balanceAfterMicros: balanceMicros, feeCount, createdAt } = entry;
  return { seq, balanceMicros, feeCount, at: type === "void" ? at : createdAt };
}
