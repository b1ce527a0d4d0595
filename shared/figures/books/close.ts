import { ApiError } from "../../api/contract/errors.ts";
import { noMessages } from "../../messages/counts/figures.ts";
import { added, addTo } from "../../messages/counts/rows.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { dayMs, epochSeconds, now, secondMs } from "../../platform/clock.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf, putItem, putOf, updateOf, type Update } from "../../platform/table/write.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import {
  type BooksClosing,
  closingJob,
  findClosing,
  monthAfter,
  periodOf,
  type ClosingJob,
} from "./closing.ts";
import { daysFrom, organizationsWithMargins, sumOfCosts, type OrganizationWithMargins } from "./costs.ts";
import { LedgerSumRecord, nothing, sumOfLedger } from "./movements.ts";
import { paymentLines } from "./payment-lines.ts";
import { findBooks, hasContent, type BooksRecord, type PaymentLine } from "./record.ts";

/*
 * The books of a month are closed in runs of a function. A run writes the item of each complete organization. Then it
 * writes the sums so far, with the organization after which the next run continues. It requires the number of runs that it
 * began with, so of parallel, repeated or late jobs only one adds to the sums. Nothing in the books is ever changed.
 */

/** The organizations that are added up at the same time. */
const organizationsTogether = 8;

/** The lines in one item. */
const linesTogether = 500;

/** The reasons that are kept of organizations that cannot be closed. */
const maxFailures = 50;

/** The time of a run that is left for its writes. */
const writesMs = 20 * secondMs;

/** How long the sum of a part of a ledger is kept. */
const sumRetentionMs = 30 * dayMs;

/** Closes the next organizations, and the month after the last one. */
export async function runClosing({ month, id }: ClosingJob, remainingTimeMs: () => number): Promise<void> {
  const found = await findClosing(month);
  if (found?.id !== id || found.status !== "running") return;
  const closing = structuredClone(found);
  const isWhole = await closeNext(closing, () => remainingTimeMs() > writesMs);
  const { after, total, failed, failures } = closing;
  const recorded = (status: BooksClosing["status"]): Update<"booksClosing"> =>
    updateOf(
      keys.booksClosing(month),
      { set: { status, runs: found.runs + 1, after, total, failed, failures } },
      { is: { id, runs: found.runs, status: "running" } },
    );
  if (!isWhole) {
    // Unlike an update, a transaction whose response was lost reports on its repetition that it was applied.
    const continued = await transact({ closing: recorded("running") });
    if (continued.outcome === "committed") await enqueue(closingJob(found));
  } else if (failed > 0 || total.organizations === 0) await transact({ closing: recorded("failed") });
  else {
    const closed = await transact({
      closing: recorded("closed"),
      total: insertOf(keys.booksTotal(month), { ...total, closedAt: now().toISOString() }),
    });
    // A command of an earlier release closed the month in between.
    const isClosed = closed.outcome === "rejected" && closed.rejections.total !== undefined;
    if (isClosed) await transact({ closing: recorded("closed") });
  }
}

/** Adds the next organizations to a closing. @returns whether they were the last ones */
async function closeNext(closing: BooksClosing, isTimeLeft: () => boolean): Promise<boolean> {
  const failed = (organizationId: string, error: unknown): undefined => {
    // The table is busy for all. Any other error is of one organization.
    if (error instanceof ApiError && error.code === "UNAVAILABLE") throw error;
    const named = `${organizationId}: ${error instanceof Error ? error.message : String(error)}`;
    const text = error instanceof RejectedError ? error.message : named.replace(/\.?$/, ".");
    closing.failed += 1;
    if (closing.failures.length < maxFailures) closing.failures.push(text);
  };
  let batch: OrganizationWithMargins[] = [];
  const addBatch = async (): Promise<boolean> => {
    const before = structuredClone(closing);
    const closed = batch.map(async (each) =>
      closeOrganization(each, closing, isTimeLeft).catch((error: unknown) =>
        failed(each.organizationId, error),
      ),
    );
    const books = await Promise.all(closed);
    // The next run begins with this batch again, because a ledger is longer than this run.
    if (books.includes("unfinished")) {
      Object.assign(closing, before);
      return false;
    }
    for (const each of books)
      if (each !== undefined && each !== "unfinished") addToTotal(closing.total, each);
    closing.after = batch.at(-1)?.organizationId ?? closing.after;
    batch = [];
    return true;
  };
  const { start, end } = periodOf(closing.month);
  for await (const each of organizationsWithMargins(daysFrom(start, end), closing.after)) {
    // The first batch of a run is never left out, so that each run has progress.
    batch.push(each);
    if (batch.length < organizationsTogether) continue;
    if (!(await addBatch()) || !isTimeLeft()) return false;
  }
  return addBatch();
}

/** @returns the books; undefined for an organization that never had a movement; `unfinished` for a longer ledger */
async function closeOrganization(
  { organizationId, margins, uncountedDay }: OrganizationWithMargins,
  { id: closingId, month, isAfterBooks, isBeforeBooks, accepted, reason }: BooksClosing,
  isTimeLeft: () => boolean,
): Promise<BooksRecord | "unfinished" | undefined> {
  const earlier = await findBooks(month, organizationId);
  if (earlier !== undefined) return earlier;
  if (uncountedDay !== undefined) {
    throw new RejectedError(
      `The costs of ${organizationId} on ${uncountedDay} are not calculated yet. Repeat the command in an hour.`,
    );
  }
  const wallet = await readWallet(organizationId);
  if (wallet.seq === 0) return undefined;
  const period = periodOf(month);
  const previous = isAfterBooks
    ? ((await findBooks(monthAfter(month, -1), organizationId)) ?? nothing)
    : undefined;
  const key = keys.ledgerSum(month, organizationId);
  const found = await findItem(LedgerSumRecord, key, { consistent: true });
  const continued = found?.closingId === closingId ? found : undefined;
  const sum = await sumOfLedger(wallet, period, previous, new Set(accepted), { continued, isTimeLeft });
  if ("soFar" in sum) {
    const expiresAt = epochSeconds(new Date(now().getTime() + sumRetentionMs));
    await putItem(putOf(key, { ...sum.soFar, entity: "ledgerSum", closingId, expiresAt }));
    return "unfinished";
  }
  const { countries: byCountry, ofPayments, ...movements } = sum.all;
  const { costs, openDays } = await sumOfCosts(margins, previous?.openDays ?? []);
  if (isBeforeBooks === true && openDays.length > 0) {
    throw new RejectedError(
      `Messages of ${organizationId} in ${month} are still to be sent, and the books of a later month are closed. ` +
        "Repeat the command when they are sent.",
    );
  }
  const lines = await paymentLines(organizationId, period, ofPayments);
  for (const [country, each] of costs) addTo(byCountry, country, { ...noMessages, country, ...each });
  const countries = [...byCountry.values()].toSorted((one, other) => (one.country < other.country ? -1 : 1));
  const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
  const books: BooksRecord = {
    entity: "books",
    organizationId,
    name: organization?.name,
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

const summed = [
  "openingMicros",
  "closingMicros",
  "messages",
  "segments",
  "revenueMicros",
  "costMicros",
  "messagesWithoutCost",
  "unknownMessages",
  "unknownCostMicros",
  "feeMicros",
] as const;

function addToTotal(total: BooksClosing["total"], books: BooksRecord): void {
  if (hasContent(books)) total.organizations += 1;
  for (const field of summed) total[field] += books[field];
  for (const [type, micros] of Object.entries(books.movements)) {
    total.movements[type] = (total.movements[type] ?? 0) + micros;
  }
  total.openDays += books.openDays.length;
  total.liabilityMicros += Math.max(books.closingMicros, 0);
  total.owedMicros += Math.max(-books.closingMicros, 0);
}
