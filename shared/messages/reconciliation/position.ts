import type { LedgerEntryRecord } from "../../money/wallet/ledger.ts";

/** The progress of a pass: all seqs up to this one are correct, and this is the balance after it. */
export interface Position {
  readonly seq: number;
  readonly balanceMicros: number;
  /** How many fees were debited up to this seq; undefined if its entry does not show it. */
  readonly feeCount: number | undefined;
  /** The time of this seq's entry. */
  readonly at: string;
}

/** Returns the position at a settled seq whose entry is not read yet. At the beginning of a ledger nothing is before it. */
export function positionAt(seq: number): Position {
  return { seq, balanceMicros: 0, feeCount: seq === 0 ? 0 : undefined, at: new Date(0).toISOString() };
}

/** Returns the position before an entry, as the entry shows it. */
export function positionBefore(entry: LedgerEntryRecord): Position {
  const { seq, balanceMicros, feeCount, at } = positionAfter(entry);
  const isFee = entry.type === "verification_fee";
  return {
    seq: seq - 1,
    balanceMicros: balanceMicros - entry.amountMicros,
    feeCount: isFee && feeCount !== undefined ? feeCount - 1 : feeCount,
    at,
  };
}

/** Returns the position at an entry. */
export function positionAfter({ seq, balanceAfterMicros, feeCount, createdAt }: LedgerEntryRecord): Position {
  return { seq, balanceMicros: balanceAfterMicros, feeCount, at: createdAt };
}
