import { addTo } from "../../messages/counts/rows.ts";
import { readLedger, type LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { graceMs } from "../../money/wallet/settlement.ts";
import { minuteMs } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { noMessages, type BooksRecord, type CountryBooks } from "./record.ts";

/** A period from its first moment to the first one after it, in ISO 8601. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

type Previous = Pick<BooksRecord, "closedSeq" | "closingMicros" | "readSeq">;

interface Movements extends Previous {
  readonly openingMicros: number;
  readonly movements: Record<string, number>;
  /** Without the costs. */
  readonly countries: Map<string, CountryBooks>;
  /** The entries that payments and the operator made. */
  readonly ofPayments: LedgerEntryRecord[];
}

/** The entries of one request, and the requests that run at the same time. */
const entriesTogether = 2_000;
const requestsTogether = 4;

/** The longest time between the `createdAt` of an entry and that of one with a higher seq that is earlier. */
const disorderMs = graceMs + minuteMs;

/**
 * Adds up the ledger of an organization in a period. An entry belongs to the period of its `createdAt`. One that seems older,
 * and was not there when the period before was closed, belongs to this one.
 * @param previous the books of the period before; without them, all older entries are the opening balance
 * @param accepted the accepted differences, such as `org_1:12` for its seq 12. Each is the movement `unexplained`; one of a later period is not.
 * @throws RejectedError when the ledger is not settled, or does not add up to the micro-unit at another seq
 */
export async function sumOfLedger(
  wallet: WalletRecord,
  { start, end }: Period,
  previous: Previous | undefined,
  accepted: ReadonlySet<string>,
): Promise<Movements> {
  const { organizationId, settledSeq } = wallet;
  const certainlyLater = new Date(Date.parse(end) + disorderMs).toISOString();
  const movements: Record<string, number> = {};
  const countries: Movements["countries"] = new Map();
  const ofPayments: LedgerEntryRecord[] = [];
  let openingMicros = previous?.closingMicros ?? 0;
  let [laterMicros, sumMicros] = [0, 0];
  let closedSeq = previous?.closedSeq ?? 0;
  const firstSeq = closedSeq + 1;
  // After entries that are out of order, the balance before the first one is not known.
  const isBalanceKnown = closedSeq === (previous?.readSeq ?? 0);
  let [readSeq, balanceMicros] = [closedSeq, isBalanceKnown ? openingMicros : undefined];
  let [isEnd, isLater] = [false, false];
  const requireAcceptance = (seq: number): void => {
    if (!accepted.has(`${organizationId}:${seq}`)) throw wrong(organizationId, seq);
  };
  const addMovement = (type: string, micros: number): void => {
    sumMicros += micros;
    movements[type] = (movements[type] ?? 0) + micros;
  };
  for await (const entry of entriesAfter(wallet, closedSeq)) {
    const { seq, type, amountMicros, balanceAfterMicros, createdAt } = entry;
    const before = balanceAfterMicros - amountMicros;
    const differenceMicros = before - (balanceMicros ?? before);
    isLater = createdAt >= end;
    const isNew = createdAt >= start || seq > (previous?.readSeq ?? Infinity);
    const isMissing = seq !== readSeq + 1;
    if (isMissing && readSeq >= settledSeq) throw unsettled(organizationId);
    // The books before have the differences of their entries, and later books those of later ones.
    const isOfThese = !isLater && (isNew || previous === undefined);
    if ((isMissing || differenceMicros !== 0) && isOfThese) requireAcceptance(readSeq + 1);
    if (isLater) laterMicros += amountMicros + differenceMicros;
    else if (closedSeq === readSeq) closedSeq = seq;
    [readSeq, balanceMicros] = [seq, balanceAfterMicros];
    // A void entry is later than its neighbors.
    isEnd = createdAt >= certainlyLater && type !== "void";
    if (isEnd) break;
    if (isLater) continue;
    if (seq > settledSeq) throw unsettled(organizationId);
    if (isNew) {
      addMovement(type, amountMicros);
      if (differenceMicros !== 0) addMovement("unexplained", differenceMicros);
      addToCountry(countries, entry);
      if (type === "payment" || type === "payment_refund" || type === "chargeback") ofPayments.push(entry);
    } else if (previous === undefined) openingMicros += amountMicros + differenceMicros;
  }
  const isMissing = readSeq !== wallet.seq;
  const endMicros = wallet.balanceMicros - (balanceMicros ?? wallet.balanceMicros);
  if (!isEnd && (isMissing || endMicros !== 0)) {
    if (isMissing && readSeq >= settledSeq) throw unsettled(organizationId);
    // The wallet has the time of its last entry, for the case that this entry alone is missing.
    const isLastLater = isLater || (readSeq + 1 === wallet.seq && wallet.lastAt >= end);
    if (isLastLater) laterMicros += endMicros;
    else {
      requireAcceptance(readSeq + 1);
      addMovement("unexplained", endMicros);
      [readSeq, closedSeq] = [wallet.seq, closedSeq === readSeq ? wallet.seq : closedSeq];
    }
    balanceMicros = wallet.balanceMicros;
  }
  // This follows from the balances in the entries, and the other side from their amounts and the books before.
  const closingMicros = (balanceMicros ?? wallet.balanceMicros) - laterMicros;
  const restMicros = closingMicros - openingMicros - sumMicros;
  if (restMicros !== 0) {
    requireAcceptance(firstSeq);
    addMovement("unexplained", restMicros);
  }
  return { openingMicros, closingMicros, movements, countries, ofPayments, closedSeq, readSeq };
}

/** Yields the entries after a seq in order. A missing entry is left out, and so is one that cannot be read. */
async function* entriesAfter(wallet: WalletRecord, seq: number): AsyncGenerator<LedgerEntryRecord> {
  for (let from = seq + 1; from <= wallet.seq; from += requestsTogether * entriesTogether) {
    const requests = Array.from({ length: requestsTogether }, async (_, index) => {
      const first = from + index * entriesTogether;
      const to = Math.min(first + entriesTogether - 1, wallet.seq);
      return readLedger(wallet, { from: first, to, limit: entriesTogether }, { skipsUnreadable: true });
    });
    for (const entries of await Promise.all(requests)) yield* entries;
  }
}

function addToCountry(
  countries: Movements["countries"],
  { type, amountMicros, country = "none", messageId, segments = 0 }: LedgerEntryRecord,
): void {
  if (type !== "message" && type !== "refund" && type !== "void") return;
  const sign = type === "message" ? 1 : type === "refund" && messageId !== undefined ? -1 : 0;
  const sums = { messages: sign, segments: sign * segments, revenueMicros: -amountMicros };
  addTo(countries, country, { ...noMessages, country, ...sums });
}

function unsettled(organizationId: string): RejectedError {
  return new RejectedError(
    `The ledger of ${organizationId} is not settled. Repeat the command in twenty minutes. If that does not help, run ` +
      `wallets verify ${organizationId}.`,
  );
}

function wrong(organizationId: string, seq: number): RejectedError {
  return new RejectedError(
    `The ledger of ${organizationId} does not add up at seq ${seq}. Run wallets verify ${organizationId}.`,
  );
}
