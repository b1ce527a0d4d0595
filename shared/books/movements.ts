import { minuteMs } from "../platform/clock.ts";
import { RejectedError } from "../platform/rejected-error.ts";
import { readLedger, type LedgerEntryRecord } from "../wallet/ledger.ts";
import type { WalletRecord } from "../wallet/record.ts";
import { graceMs } from "../wallet/settlement.ts";
import type { BooksRecord, CountryBooks } from "./record.ts";

/** A period from its first moment to the first one after it, in ISO 8601. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

type Previous = Pick<BooksRecord, "closedSeq" | "closingMicros" | "readSeq">;

interface Movements extends Previous {
  readonly openingMicros: number;
  readonly movements: Record<string, number>;
  readonly countries: Map<string, Omit<CountryBooks, "costMicros" | "messagesWithoutCost">>;
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
 * @throws RejectedError when the ledger is not settled or does not add up to the micro-unit
 */
export async function sumOfLedger(
  wallet: WalletRecord,
  { start, end }: Period,
  previous: Previous | undefined,
): Promise<Movements> {
  const { organizationId, settledSeq } = wallet;
  const certainlyLater = new Date(Date.parse(end) + disorderMs).toISOString();
  const movements: Record<string, number> = {};
  const countries: Movements["countries"] = new Map();
  const ofPayments: LedgerEntryRecord[] = [];
  let openingMicros = previous?.closingMicros ?? 0;
  let [laterMicros, sumMicros] = [0, 0];
  let closedSeq = previous?.closedSeq ?? 0;
  let [readSeq, balanceMicros]: [number, number | undefined] = [closedSeq, undefined];
  let isEnd = false;
  for await (const entry of entriesAfter(wallet, closedSeq)) {
    const { seq, type, amountMicros, balanceAfterMicros, createdAt } = entry;
    if (seq !== readSeq + 1) throw unsettled(organizationId);
    const before = balanceAfterMicros - amountMicros;
    if (before !== (balanceMicros ?? before)) throw wrong(organizationId, `at seq ${seq}`);
    const isLater = createdAt >= end;
    if (isLater) laterMicros += amountMicros;
    else if (closedSeq === readSeq) closedSeq = seq;
    [readSeq, balanceMicros] = [seq, balanceAfterMicros];
    // A void entry is later than its neighbors.
    isEnd = createdAt >= certainlyLater && type !== "void";
    if (isEnd) break;
    if (isLater) continue;
    if (seq > settledSeq) throw unsettled(organizationId);
    if (createdAt >= start || seq > (previous?.readSeq ?? Infinity)) {
      sumMicros += amountMicros;
      movements[type] = (movements[type] ?? 0) + amountMicros;
      addToCountry(countries, entry);
      if (type === "payment" || type === "payment_refund" || type === "chargeback") ofPayments.push(entry);
    } else if (previous === undefined) openingMicros += amountMicros;
  }
  if (!isEnd && readSeq !== wallet.seq) throw unsettled(organizationId);
  if (!isEnd && (balanceMicros ?? wallet.balanceMicros) !== wallet.balanceMicros) {
    throw wrong(organizationId, "at its end");
  }
  // This follows from the balances in the entries, and the other side from their amounts and the books before.
  const closingMicros = (balanceMicros ?? wallet.balanceMicros) - laterMicros;
  if (openingMicros + sumMicros !== closingMicros) throw wrong(organizationId, `from ${start}`);
  return { openingMicros, closingMicros, movements, countries, ofPayments, closedSeq, readSeq };
}

/** Yields the entries after a seq in order. A missing entry is left out. */
async function* entriesAfter(wallet: WalletRecord, seq: number): AsyncGenerator<LedgerEntryRecord> {
  for (let from = seq + 1; from <= wallet.seq; from += requestsTogether * entriesTogether) {
    const requests = Array.from({ length: requestsTogether }, async (_, index) => {
      const first = from + index * entriesTogether;
      const to = Math.min(first + entriesTogether - 1, wallet.seq);
      return readLedger(wallet, { from: first, to, limit: entriesTogether });
    });
    for (const entries of await Promise.all(requests)) yield* entries;
  }
}

function addToCountry(
  countries: Movements["countries"],
  { type, amountMicros, country = "none", messageId, segments = 0 }: LedgerEntryRecord,
): void {
  if (type !== "message" && type !== "refund" && type !== "void") return;
  const sum = countries.get(country) ?? { country, messages: 0, segments: 0, revenueMicros: 0 };
  const sign = type === "message" ? 1 : type === "refund" && messageId !== undefined ? -1 : 0;
  countries.set(country, {
    country,
    messages: sum.messages + sign,
    segments: sum.segments + sign * segments,
    revenueMicros: sum.revenueMicros - amountMicros,
  });
}

function unsettled(organizationId: string): RejectedError {
  return new RejectedError(
    `The ledger of ${organizationId} is not settled. Repeat the command in twenty minutes. If that does not help, run ` +
      `wallets verify ${organizationId}.`,
  );
}

function wrong(organizationId: string, where: string): RejectedError {
  return new RejectedError(
    `The ledger of ${organizationId} does not add up ${where}. Run wallets verify ${organizationId}.`,
  );
}
