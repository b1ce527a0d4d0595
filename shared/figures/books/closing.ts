import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { Month } from "../../api/contract/primitives.ts";
import { noMessages } from "../../messages/counts/figures.ts";
import { graceMs } from "../../money/wallet/settlement.ts";
import { hourMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { owedJob } from "../../platform/jobs/scheduled-job.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf, putOf } from "../../platform/table/write.ts";
import type { Period } from "./movements.ts";
import { BooksTotal, findBooksTotal } from "./record.ts";

/** The months in each direction that are searched for books: ten years. */
const searchedMonths = 120;

/** How long a month is over before it can be closed: by then its debits are settled and its last day is counted. */
const closedAfterMs = hourMs + graceMs;

/** The work of a function that closes a month, in runs. */
export const BooksClosing = z.object({
  entity: z.literal("booksClosing"),
  id: z.string(),
  month: Month,
  status: z.enum(["running", "closed", "failed"]),
  /** Whether the books of the month before were closed at the beginning. */
  isAfterBooks: z.boolean(),
  /** Present if a later month had books at the beginning, which do not continue these. */
  isBeforeBooks: z.optional(z.literal(true)),
  /** The differences in ledgers that the operator accepts, such as `org_1:12` for a seq, and why. */
  accepted: z.array(z.string()),
  reason: z.optional(z.string()),
  /** The runs so far. Only one of parallel runs with the same number is recorded. */
  runs: z.int(),
  /** The last organization of these runs. */
  after: z.optional(z.string()),
  /** The sums up to this organization. */
  total: z.omit(BooksTotal, { closedAt: true }),
  /** The organizations that cannot be closed, and the first reasons. */
  failed: z.int(),
  failures: z.array(z.string()),
});
export type BooksClosing = z.infer<typeof BooksClosing>;

export const ClosingJob = z.object({ month: Month, id: z.string() });
export type ClosingJob = z.infer<typeof ClosingJob>;

export function closingJob({ month, id }: ClosingJob): QueuedJob {
  return { queue: "books", group: month, body: { month, id } };
}

/** Returns the closing of a month that began last; undefined if none began. */
export async function findClosing(month: string): Promise<BooksClosing | undefined> {
  return findItem(BooksClosing, keys.booksClosing(month), { consistent: true });
}

interface Request {
  /** The operator who closes the month. */
  readonly closedBy: string;
  readonly accepted?: readonly string[] | undefined;
  readonly reason?: string | undefined;
}

/**
 * Begins to close the books of a month, or continues the same closing. Another one replaces it, and keeps what it has closed.
 * @throws RejectedError when the month cannot be closed
 */
export async function startClosing(
  month: string,
  { closedBy, accepted = [], reason }: Request,
): Promise<BooksClosing> {
  const lastBooks = await checkClosable(month);
  const earlier = await findClosing(month);
  const isSame = earlier?.accepted.join() === accepted.join() && earlier.reason === reason;
  if (earlier?.status === "running" && isSame) {
    await enqueue(closingJob(earlier));
    return earlier;
  }
  const closing: BooksClosing = {
    entity: "booksClosing",
    id: randomUUID(),
    month,
    status: "running",
    isAfterBooks: lastBooks === monthAfter(month, -1),
    ...((await nearestBooks(month, 1)) !== undefined && { isBeforeBooks: true }),
    accepted: [...accepted],
    reason,
    runs: 0,
    total: emptyTotal(month, closedBy),
    failed: 0,
    failures: [],
  };
  const job = closingJob(closing);
  const key = keys.booksClosing(month);
  const started = await transact({
    closing: earlier === undefined ? insertOf(key, closing) : putOf(key, closing, { is: { id: earlier.id } }),
    job: owedJob(closing.id, job),
  });
  if (started.outcome === "rejected") {
    throw new RejectedError(`Another command began to close ${month} at the same time. Repeat the command.`);
  }
  await enqueue(job);
  return closing;
}

/** Returns why a closing failed. */
export function problemOf({ month, total, failed, failures }: BooksClosing): string {
  if (failed === 0) return `No customer had a movement or a balance in ${month}.`;
  const rest = failed - failures.length;
  const count = `${month} is closed for ${total.organizations} customers, and not for ${failed}:`;
  return [count, ...failures, ...(rest > 0 ? [`The reasons of ${rest} more are left out.`] : [])].join(" ");
}

/**
 * Returns the last month with books before a month that can be closed; undefined if there is none.
 * @throws RejectedError when it cannot be closed
 */
async function checkClosable(month: string): Promise<string | undefined> {
  const closed = await findBooksTotal(month);
  if (closed !== undefined) {
    throw new RejectedError(`${month} was closed at ${closed.closedAt} by ${closed.closedBy}.`);
  }
  const closableAt = new Date(Date.parse(periodOf(month).end) + closedAfterMs);
  if (now() < closableAt) {
    throw new RejectedError(`${month} cannot be closed before ${closableAt.toISOString()}.`);
  }
  const last = await nearestBooks(month, -1);
  // Without books, only a closing that has begun is in the way.
  let open = last === undefined ? monthAfter(month, -1) : monthAfter(last, 1);
  for (; open < month; open = monthAfter(open, 1)) {
    const before = await findClosing(open);
    // A month without any movement or balance fails, and has no costs that follow.
    const isEmpty = before?.status === "failed" && before.failed === 0;
    if (isEmpty || (last === undefined && before === undefined)) continue;
    const reason = before === undefined ? "months are closed in order" : `its closing is ${before.status}`;
    throw new RejectedError(`Run books close ${open} first: ${reason}.`);
  }
  return last;
}

/** Returns the nearest month with books before (-1) or after (1) a month; undefined if there is none. */
async function nearestBooks(month: string, direction: -1 | 1): Promise<string | undefined> {
  const months = Array.from({ length: searchedMonths }, (_, index) =>
    monthAfter(month, direction * (index + 1)),
  );
  const totals = await Promise.all(months.map(async (each) => findBooksTotal(each)));
  return months.find((_, index) => totals[index] !== undefined);
}

function emptyTotal(month: string, closedBy: string): BooksClosing["total"] {
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

/** Returns the period of a month, such as `2026-11`. */
export function periodOf(month: string): Period {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return {
    start: new Date(Date.UTC(year, number - 1)).toISOString(),
    end: new Date(Date.UTC(year, number)).toISOString(),
  };
}

/** Returns the month some months after another one, or before it. */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, "yyyy-mm".length);
}
