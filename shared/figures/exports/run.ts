import { gzipSync } from "node:zlib";

import { ApiError } from "../../api/contract/errors.ts";
import { emailJob, owedEmail, type QueuedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmails } from "../../notices/emails/queue-email.ts";
import { secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { checkOf, putOf, updateItem, updateOf, type Update } from "../../platform/table/write.ts";
import { exportJob, ExportRecord, hasExpired, type ExportJob } from "./record.ts";
import { readRows } from "./rows.ts";

/*
 * An export runs in steps. Each reads rows from the cursor on, and one transaction stores them with the next cursor. It
 * requires the cursor that it began with, so of parallel, repeated or late jobs only one adds rows, and the others end.
 */

const maxRows = 10_000_000;
const maxColumns = 1_000;

/** The rows of one read. With the longest texts they still fit into a transaction, which has at most 4 MB. */
const rowsAtOnce = 100;

/** The text that a run collects before it writes. It has 3,000 to 5,000 plain rows. */
const textOfRun = 1_000_000;

/** The most bytes of a part as it is stored and as it is served. An item has at most 400 kB, a response 6 MB. */
const maxStored = 300_000;
const maxServed = 2_000_000;

/** The time of a run that is left when it ends to read. It reads for ten seconds, because all customers share two workers. */
const writesMs = 50 * secondMs;

/** Exports the next rows. */
export async function runExport(job: ExportJob, remainingTimeMs: () => number): Promise<void> {
  const key = keys.export(job.organizationId, job.exportId);
  const found = await findItem(ExportRecord, key, { consistent: true });
  if (found?.status !== "running" || hasExpired(found)) return;
  try {
    await write(found, await collect(found, remainingTimeMs));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === "UNAVAILABLE") throw error;
    // No retry changes other errors of the list's own operation: its campaign or wallet was deleted.
    await fail(found, error.code);
  }
}

interface Collected {
  readonly rows: readonly (readonly string[])[];
  readonly columns: readonly string[];
  /** Undefined at the end of the list. */
  readonly cursor: string | undefined;
}

async function collect(
  { organizationId, request, ...before }: ExportRecord,
  remainingTimeMs: () => number,
): Promise<Collected> {
  const columns = new Set(before.columns);
  const rows: string[][] = [];
  let { cursor } = before;
  let length = 0;
  do {
    const page = await readRows(organizationId, request, { page: 1, limit: rowsAtOnce, cursor });
    for (const cells of page.rows) {
      for (const name of Object.keys(cells)) columns.add(name);
      const row = Array.from(columns, (name) => cells[name] ?? "");
      length += row.join().length;
      rows.push(row);
    }
    cursor = page.meta.nextCursor;
  } while (cursor !== undefined && length < textOfRun && remainingTimeMs() > writesMs);
  return { rows, columns: [...columns], cursor };
}

async function write(found: ExportRecord, { rows, columns, cursor }: Collected): Promise<void> {
  if (found.rows + rows.length > maxRows || columns.length > maxColumns) return fail(found, "TOO_LARGE");
  const { organizationId, id, parts, expiresAt } = found;
  const isLast = cursor === undefined;
  const emails = isLast ? emailsOf(found) : [];
  // An empty file has a part with the names of its columns.
  const contents = rows.length > 0 || (isLast && parts === 0) ? contentsOf(rows) : [];
  const written = await transact({
    // An erasure suspends the organization first, so that nothing is added to it any more.
    organization: checkOf(keys.organization(organizationId), { present: ["pk"], absent: ["suspendedAt"] }),
    export: continued(found, {
      set: { columns, cursor, ...(isLast && { status: "ready" as const }) },
      remove: isLast ? ["cursor"] : [],
      add: { rows: rows.length, parts: contents.length },
    }),
    parts: contents.map((content, index) =>
      putOf(keys.exportPart(organizationId, id, parts + index + 1), {
        entity: "exportPart",
        content,
        expiresAt,
      }),
    ),
    emails: emails.map(owedEmail),
  });
  if (written.outcome === "rejected") {
    if (written.rejections.organization !== undefined) await fail(found, "ORGANIZATION_SUSPENDED");
  } else if (isLast) await queueOwedEmails(emails);
  else await enqueue(exportJob({ organizationId, exportId: id }));
}

/** Returns a change of an export that requires that no other run has continued it. */
function continued(
  { organizationId, id, cursor }: ExportRecord,
  changes: Changes<"export">,
): Update<"export"> {
  const requirements =
    cursor === undefined
      ? ({ is: { status: "running" }, absent: ["cursor"] } as const)
      : ({ is: { status: "running", cursor } } as const);
  return updateOf(keys.export(organizationId, id), changes, requirements);
}

/** Returns rows as the contents of parts: halves of them while they are too large. */
function contentsOf(rows: readonly (readonly string[])[]): Uint8Array<ArrayBuffer>[] {
  const text = JSON.stringify(rows);
  const content = new Uint8Array(gzipSync(text));
  const isSmall = content.length <= maxStored && Buffer.byteLength(text) <= maxServed;
  if (isSmall || rows.length <= 1) return [content];
  const middle = Math.ceil(rows.length / 2);
  return [...contentsOf(rows.slice(0, middle)), ...contentsOf(rows.slice(middle))];
}

/** Returns the email for the person who began an export; none for a key, and where the stage sends no emails. */
function emailsOf({ organizationId, id, userId }: ExportRecord): QueuedEmail[] {
  if (userId === undefined || config.emailFrom() === undefined) return [];
  return [emailJob(organizationId, { kind: "exportReady", userId, exportId: id }, id)];
}

async function fail(found: ExportRecord, errorCode: string): Promise<void> {
  log.warn("export.failed", { organizationId: found.organizationId, errorCode });
  await updateItem(ExportRecord, continued(found, { set: { status: "failed" }, remove: ["cursor"] }));
}
