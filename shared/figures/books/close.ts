import { ApiError } from "../../api/contract/errors.ts";
import { added, addTo } from "../../messages/counts/rows.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { graceMs } from "../../money/wallet/settlement.ts";
import { hourMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { keys } from "../../platform/table/keys.ts";
import { insertOf, putItem } from "../../platform/table/write.ts";
import { daysFrom, organizationsWithMargins, sumOfCosts, type OrganizationWithMargins } from "./costs.ts";
import { sumOfLedger, type Period } from "./movements.ts";
import { paymentLines } from "./payment-lines.ts";
import {
  findBooks,
  findBooksTotal,
  type BooksRecord,
  noMessages,
  type BooksTotal,
  type PaymentLine,
} from "./record.ts";

/** How long a month is over before it can be closed: by then its debits are settled and its last day is counted. */
const closedAfterMs = hourMs + graceMs;

/** The organizations that are added up at the same time. */
const organizationsTogether = 8;

/** The lines in one item. */
const linesTogether = 500;

/** The state before the first books. */
const nothing = { closingMicros: 0, closedSeq: 0, readSeq: 0, openDays: [] } as const;

interface Closing {
  /** The operator who closes the month. */
  readonly closedBy: string;
  readonly onProgress?: (organizations: number) => void;
  /** The differences in ledgers that the operator accepts, such as `org_1:12` for a seq, and why. */
  readonly accepted?: ReadonlySet<string>;
  readonly reason?: string | undefined;
}

/**
 * Closes the books of a month. Each organization's item is written when it is complete, and the totals last, so that an
 * interrupted close can be repeated. Nothing that was written is changed.
 * @throws RejectedError when the month cannot be closed, with the reason, or the organizations that cannot. All others are
 *   closed then.
 */
export async function closeBooks(
  month: string,
  { closedBy, onProgress, accepted = new Set(), reason }: Closing,
): Promise<BooksTotal> {
  const period = periodOf(month);
  const days = daysFrom(period.start, period.end);
  await checkClosable(month, period);
  const before = monthBefore(month);
  const isAfterBooks = (await findBooksTotal(before)) !== undefined;
  const total = emptyTotal(month, closedBy);
  const failures: string[] = [];
  const failed = (organizationId: string, error: unknown): undefined => {
    // The table is busy for all. Any other error is of one organization.
    if (error instanceof ApiError && error.code === "UNAVAILABLE") throw error;
    const named = `${organizationId}: ${error instanceof Error ? error.message : String(error)}`;
    failures.push(error instanceof RejectedError ? error.message : named.replace(/\.?$/, "."));
  };
  let batch: Promise<BooksRecord | undefined>[] = [];
  const addBatch = async (): Promise<void> => {
    for (const books of await Promise.all(batch)) if (books !== undefined) addToTotal(total, books);
    batch = [];
    onProgress?.(total.organizations);
  };
  for await (const each of organizationsWithMargins(days)) {
    const organization = { ...each, month, period, before, isAfterBooks, accepted, reason };
    batch.push(closeOrganization(organization).catch((error: unknown) => failed(each.organizationId, error)));
    if (batch.length === organizationsTogether) await addBatch();
  }
  await addBatch();
  if (failures.length > 0) {
    const count = `${month} is closed for ${total.organizations} customers, and not for ${failures.length}:`;
    throw new RejectedError([count, ...failures].join(" "));
  }
  const closed = { ...total, closedAt: now().toISOString() };
  // The client repeats a write whose response was lost.
  const isOwn = ({ closedAt }: Record<string, unknown>): boolean => closedAt === closed.closedAt;
  const written = await putItem(insertOf(keys.booksTotal(month), closed), { isOwn });
  if (!written.applied) throw new RejectedError(`${month} has been closed by another command.`);
  return closed;
}

async function checkClosable(month: string, { end }: Period): Promise<void> {
  const closed = await findBooksTotal(month);
  if (closed !== undefined) {
    throw new RejectedError(`${month} was closed at ${closed.closedAt} by ${closed.closedBy}.`);
  }
  const closableAt = new Date(Date.parse(end) + closedAfterMs);
  if (now() < closableAt) {
    throw new RejectedError(`${month} cannot be closed before ${closableAt.toISOString()}.`);
  }
}

interface OrganizationInMonth extends OrganizationWithMargins {
  readonly month: string;
  readonly period: Period;
  readonly before: string;
  /** Whether the month before is closed. */
  readonly isAfterBooks: boolean;
  readonly accepted: ReadonlySet<string>;
  readonly reason: string | undefined;
}

/** @returns the books; undefined for an organization that never had a movement */
async function closeOrganization({
  organizationId,
  margins,
  uncountedDay,
  month,
  period,
  before,
  isAfterBooks,
  accepted,
  reason,
}: OrganizationInMonth): Promise<BooksRecord | undefined> {
  const earlier = await findBooks(month, organizationId);
  if (earlier !== undefined) return earlier;
  if (uncountedDay !== undefined) {
    throw new RejectedError(
      `The costs of ${organizationId} on ${uncountedDay} are not calculated yet. Repeat the command in an hour.`,
    );
  }
  const wallet = await readWallet(organizationId);
  if (wallet.seq === 0) return undefined;
  const previous = isAfterBooks ? ((await findBooks(before, organizationId)) ?? nothing) : undefined;
  const {
    countries: byCountry,
    ofPayments,
    ...movements
  } = await sumOfLedger(wallet, period, previous, accepted);
  const { costs, openDays } = await sumOfCosts(margins, previous?.openDays ?? []);
  const lines = await paymentLines(organizationId, period, ofPayments);
  for (const [country, each] of costs) addTo(byCountry, country, { ...noMessages, country, ...each });
  const countries = [...byCountry.values()].toSorted((one, other) => (one.country < other.country ? -1 : 1));
  const books: BooksRecord = {
    entity: "books",
    organizationId,
    ...movements,
    unexplainedReason: movements.movements["unexplained"] === undefined ? undefined : reason,
    ...countries.reduce<typeof noMessages>(added, noMessages),
    feeMicros: lines.reduce((all, { feeMicros }) => all + feeMicros, 0),
    countries,
    openDays,
  };
  await writeLines(month, organizationId, lines);
  const written = await putItem(insertOf(keys.books(month, organizationId), books));
  // Another close at the same time came first.
  return written.applied ? books : findBooks(month, organizationId);
}

async function writeLines(
  month: string,
  organizationId: string,
  lines: readonly PaymentLine[],
): Promise<void> {
  for (let start = 0; start < lines.length; start += linesTogether) {
    const key = keys.bookLines(month, organizationId, start);
    const chunk = lines.slice(start, start + linesTogether);
    await putItem(insertOf(key, { entity: "bookLines", organizationId, lines: chunk }));
  }
}

function emptyTotal(month: string, closedBy: string): Omit<BooksTotal, "closedAt"> {
  return {
    entity: "booksTotal",
    month,
    currency: config.currency(),
    organizations: 0,
    openingMicros: 0,
    closingMicros: 0,
    movements: {},
    ...noMessages,
    feeMicros: 0,
    liabilityMicros: 0,
    owedMicros: 0,
    openDays: 0,
    closedBy,
  };
}

const summed = [
  "openingMicros",
  "closingMicros",
  "messages",
  "segments",
  "revenueMicros",
  "costMicros",
  "messagesWithoutCost",
  "feeMicros",
] as const;

function addToTotal(total: ReturnType<typeof emptyTotal>, books: BooksRecord): void {
  total.organizations += 1;
  for (const field of summed) total[field] += books[field];
  for (const [type, micros] of Object.entries(books.movements)) {
    total.movements[type] = (total.movements[type] ?? 0) + micros;
  }
  total.openDays += books.openDays.length;
  total.liabilityMicros += Math.max(books.closingMicros, 0);
  total.owedMicros += Math.max(-books.closingMicros, 0);
}

/** Returns the period of a month, such as `2026-11`. */
function periodOf(month: string): Period {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return {
    start: new Date(Date.UTC(year, number - 1)).toISOString(),
    end: new Date(Date.UTC(year, number)).toISOString(),
  };
}

function monthBefore(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 2)).toISOString().slice(0, "yyyy-mm".length);
}
