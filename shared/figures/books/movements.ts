import * as z from "zod/mini";

import { noMessages } from "../../messages/counts/figures.ts";
import { addTo } from "../../messages/counts/rows.ts";
import { readLedger, type LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { graceMs } from "../../money/wallet/settlement.ts";
import { minuteMs } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { CountryBooks, type BooksRecord } from "./record.ts";

/** A period from its first moment to the first one after it, in ISO 8601. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

type Previous = Pick<BooksRecord, "closedSeq" | "closingMicros" | "readSeq">;

/** The state before the first books. */
export const nothing = { closingMicros: 0, closedSeq: 0, readSeq: 0, openDays: [] } as const;

interface Movements extends Previous {
  readonly openingMicros: number;
  readonly movements: Record<string, number>;
  /** Without the costs. */
  readonly countries: Map<string, CountryBooks>;
  /** The entries that payments and the operator made. */
  readonly ofPayments: LedgerEntryRecord[];
}

/**
 * The sum of a ledger up to `readSeq`, with which another run continues. It follows from entries that never change, so parallel
 * runs may replace it.
 */
export const LedgerSumRecord = z.object({
  entity: z.literal("ledgerSum"),
  /** The closing that it belongs to. */
  closingId: z.string(),
  openingMicros: z.int(),
  laterMicros: z.int(),
  sumMicros: z.int(),
  closedSeq: z.int(),
  readSeq: z.int(),
  balanceMicros: z.optional(z.int()),
  isLater: z.boolean(),
  movements: z.record(z.string(), z.int()),
  countries: z.array(CountryBooks),
  /** The entries of payments. */
  paymentSeqs: z.array(z.int()),
  expiresAt: z.int(),
});
type LedgerSum = Omit<z.infer<typeof LedgerSumRecord>, "closingId" | "entity" | "expiresAt">;

/** The parts of a ledger that are added up in one run. */
interface Run {
  /** The sum of an earlier run. */
  readonly continued: LedgerSum | undefined;
  readonly isTimeLeft: () => boolean;
}

/** The entries of one request, and the requests that run at the same time. */
const entriesTogether = 2_000;
const requestsTogether = 4;
const seqsTogether = 25;

/** The longest time between the `createdAt` of an entry and that of one with a higher seq that is earlier. */
const disorderMs = graceMs + minuteMs;

/**
 * Adds up the ledger of an organization in a period. An entry belongs to the period of its `createdAt`. One that seems older,
 * and was not there when the period before was closed, belongs to this one.
 * @param previous the books of the period before; without them, all older entries are the opening balance
 * @param accepted the accepted differences, such as `org_1:12` for its seq 12. Each is the movement `unexplained`; one of a later period is not.
 * @returns the sum so far if no time is left
 * @throws RejectedError when the ledger is not settled, or does not add up to the micro-unit at another seq
 */
export async function sumOfLedger(
  wallet: WalletRecord,
  { start, end }: Period,
  previous: Previous | undefined,
  accepted: ReadonlySet<string>,
  { continued, isTimeLeft }: Run,
): Promise<{ readonly all: Movements } | { readonly soFar: LedgerSum }> {
  const { organizationId, settledSeq } = wallet;
  const certainlyLater = new Date(Date.parse(end) + disorderMs).toISOString();
  const firstSeq = (previous?.closedSeq ?? 0) + 1;
  const begun = continued ?? beginningOf(previous);
  const { movements, paymentSeqs } = begun;
  const countries: Movements["countries"] = new Map(begun.countries.map((each) => [each.country, each]));
  let { openingMicros, laterMicros, sumMicros, closedSeq, readSeq, balanceMicros, isLater } = begun;
  let isEnd = false;
  const requireAcceptance = (seq: number): void => {
    if (!accepted.has(`${organizationId}:${seq}`)) throw wrong(organizationId, seq);
  };
  const addMovement = (type: string, micros: number): void => {
    sumMicros += micros;
    movements[type] = (movements[type] ?? 0) + micros;
  };
  for await (const entry of entriesAfter(wallet, readSeq)) {
    if (readSeq > begun.readSeq && !isTimeLeft()) {
      const sums = { openingMicros, laterMicros, sumMicros, closedSeq, readSeq, balanceMicros, isLater };
      return { soFar: { ...sums, movements, paymentSeqs, countries: [...countries.values()] } };
    }
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
      if (type === "payment" || type === "payment_refund" || type === "chargeback") paymentSeqs.push(seq);
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
  const ofPayments = await entriesOf(wallet, paymentSeqs);
  return { all: { openingMicros, closingMicros, movements, countries, ofPayments, closedSeq, readSeq } };
}

/** Returns the sum before the first entry. */
function beginningOf({ closedSeq, closingMicros, readSeq }: Previous = nothing): LedgerSum {
  const sums = { openingMicros: closingMicros, laterMicros: 0, sumMicros: 0, closedSeq, readSeq: closedSeq };
  // After entries that are out of order, the balance before the first one is not known.
  const balanceMicros = closedSeq === readSeq ? closingMicros : undefined;
  return { ...sums, balanceMicros, isLater: false, movements: {}, countries: [], paymentSeqs: [] };
}

/** Returns the entries with some seqs. */
async function entriesOf(wallet: WalletRecord, seqs: readonly number[]): Promise<LedgerEntryRecord[]> {
  const found: LedgerEntryRecord[] = [];
  for (let start = 0; start < seqs.length; start += seqsTogether) {
    const some = seqs.slice(start, start + seqsTogether);
    const entries = some.map(async (seq) => readLedger(wallet, { from: seq, to: seq, limit: 1 }));
    found.push(...(await Promise.all(entries)).flat());
  }
  return found;
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
  if (type !== "message" && type !== "verification_fee" && type !== "refund" && type !== "void") return;
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
