import * as z from "zod/mini";

import type { CreateExportRequest } from "../../shared/api/contract/exports.ts";
import { createExport } from "../../shared/figures/exports/create.ts";
import { getExportPart } from "../../shared/figures/exports/read.ts";
import { ExportJob, ExportRecord } from "../../shared/figures/exports/record.ts";
import { runExport } from "../../shared/figures/exports/run.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { takeJobs } from "./queues.ts";

export const exporterId = "usr_01J00000000000000000000000";

/** The person who exports. */
export function exporterOf(organizationId: string): Actor {
  const credential = { type: "session", sessionId: "ses_1" } as const;
  return { organizationId, userId: exporterId, credential, scopes: ["read"] };
}

/** Begins an export. @returns its first job, which is not on its queue any more */
export async function beginExport(organizationId: string, request: CreateExportRequest): Promise<ExportJob> {
  await createExport(exporterOf(organizationId), request);
  const [job] = await takeExportJobs();
  return ExportJob.parse(job);
}

export async function takeExportJobs(): Promise<ExportJob[]> {
  return z.array(ExportJob).parse(await takeJobs("exports"));
}

/** Runs the jobs of the queue until there are none, each with time for only one read. */
export async function runAll(first: ExportJob): Promise<void> {
  for (let jobs = [first]; jobs.length > 0; jobs = await takeExportJobs()) {
    for (const job of jobs) await runExport(job, () => 0);
  }
}

export async function storedExport({ organizationId, exportId }: ExportJob): Promise<ExportRecord> {
  const key = keys.export(organizationId, exportId);
  return ExportRecord.parse(await findItem(ExportRecord, key, { consistent: true }));
}

/** The text of all parts. */
export async function csvOfExport(job: ExportJob): Promise<string> {
  const { parts } = await storedExport(job);
  let csv = "";
  for (let part = 1; part <= parts; part += 1) {
    const read = await getExportPart(job.organizationId, job.exportId, part);
    csv += "csv" in read ? read.csv : "";
  }
  return csv;
}
