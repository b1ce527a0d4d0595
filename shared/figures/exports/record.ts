import * as z from "zod/mini";

import { CreateExportRequest, ExportedList, ExportStatus, type Export } from "../../api/contract/exports.ts";
import { epochSeconds, now, secondMs } from "../../platform/clock.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";

/** The rows of a list, as runs of its job read and store them. */
export const ExportRecord = z.object({
  entity: z.literal("export"),
  id: z.string(),
  organizationId: z.string(),
  list: ExportedList,
  request: CreateExportRequest,
  /** The person who gets the email. A key has none. */
  userId: z.optional(z.string()),
  status: ExportStatus,
  /** The names of the columns that occurred so far. The cells of each row have their order. */
  columns: z.array(z.string()),
  /** Where the next run continues in the list. */
  cursor: z.optional(z.string()),
  rows: z.int(),
  parts: z.int(),
  createdAt: z.string(),
  expiresAt: z.int(),
});
export type ExportRecord = z.infer<typeof ExportRecord>;

/** A part: a list of rows as gzipped JSON, because columns that occur later are added when it is read. */
export const ExportPartRecord = z.object({
  entity: z.literal("exportPart"),
  content: z.instanceof(Uint8Array),
  expiresAt: z.int(),
});

export const ExportJob = z.object({ organizationId: z.string(), exportId: z.string() });
export type ExportJob = z.infer<typeof ExportJob>;

export function exportJob(job: ExportJob): QueuedJob {
  return { queue: "exports", group: job.organizationId, body: job };
}

/** Whether an export has expired. The table deletes it days later. */
export function hasExpired({ expiresAt }: Pick<ExportRecord, "expiresAt">): boolean {
  return expiresAt <= epochSeconds(now());
}

export function toApiExport({ id, list, status, rows, parts, createdAt, expiresAt }: ExportRecord): Export {
  return {
    id,
    list,
    status,
    rows,
    parts,
    createdAt,
    expiresAt: new Date(expiresAt * secondMs).toISOString(),
  };
}
