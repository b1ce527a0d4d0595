import { ApiError } from "../../api/contract/errors.ts";
import { ExportedList, type CreateExportRequest, type Export } from "../../api/contract/exports.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { newId } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { owedJob } from "../../platform/jobs/scheduled-job.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf } from "../../platform/table/write.ts";
import { exportJob, toApiExport, type ExportRecord } from "./record.ts";
import { columnsOf, readRows } from "./rows.ts";

const exportsInDay: RateLimit = { name: "exports", max: 50, windowMs: dayMs };

const retentionMs = dayMs;

/**
 * Begins an export.
 * @throws ApiError what the list's own operation throws; RATE_LIMITED; UNAVAILABLE
 */
export async function createExport(
  { organizationId, userId, credential }: Actor,
  request: CreateExportRequest,
  attempt?: Attempt,
): Promise<Export> {
  // Only these lists reject a filter: a campaign that does not exist, and a range that ends before it begins.
  if (request.campaignRecipients !== undefined || request.transactions !== undefined) {
    await readRows(organizationId, request, { page: 1, limit: 1 });
  }
  await consume(exportsInDay, organizationId);
  const createdAt = now();
  const id = newId("exp");
  const record: ExportRecord = {
    entity: "export",
    id,
    organizationId,
    list: ExportedList.parse(Object.keys(request)[0]),
    request,
    ...(credential.type === "session" && { userId }),
    status: "running",
    columns: columnsOf(request),
    rows: 0,
    parts: 0,
    createdAt: createdAt.toISOString(),
    expiresAt: epochSeconds(new Date(createdAt.getTime() + retentionMs)),
  };
  const job = exportJob({ organizationId, exportId: id });
  const begun = await transact({
    export: insertOf(keys.export(organizationId, id), record),
    job: owedJob(id, job),
    attempt: attempt === undefined ? [] : attempt.complete(toApiExport(record)),
  });
  // A later attempt of the same request took over.
  if (begun.outcome === "rejected") throw new ApiError("UNAVAILABLE");
  await enqueue(job).catch((error: unknown) => log.warn("export.enqueue_failed", { error }));
  return toApiExport(record);
}
