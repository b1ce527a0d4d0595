import { gunzipSync } from "node:zlib";

import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { Export, ExportPart } from "../../api/contract/exports.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { csvOf } from "./csv.ts";
import { ExportPartRecord, ExportRecord, hasExpired, toApiExport } from "./record.ts";

/** @throws ApiError NOT_FOUND, also after a day */
export async function getExport(organizationId: string, exportId: string): Promise<Export> {
  return toApiExport(await readExport(organizationId, exportId));
}

async function readExport(organizationId: string, exportId: string): Promise<ExportRecord> {
  const key = keys.export(organizationId, exportId);
  const record = await findItem(ExportRecord, key, { consistent: true });
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/**
 * Returns a part, the first one with the names of the columns, as a plain file if the caller prefers that.
 * @throws ApiError NOT_FOUND, also until the export is ready
 */
export async function getExportPart(
  organizationId: string,
  exportId: string,
  part: number,
  accept = "",
): Promise<ExportPart | RawResponse> {
  const { status, columns } = await readExport(organizationId, exportId);
  const key = keys.exportPart(organizationId, exportId, part);
  // Consistent, because the part may be as new as the status.
  const found = status === "ready" ? await findItem(ExportPartRecord, key, { consistent: true }) : undefined;
  const rows: string[][] = JSON.parse(gunzipSync(orNotFound(found).content).toString());
  const padded = rows.map((cells) => columns.map((_, index) => cells[index] ?? ""));
  const csv = csvOf(part === 1 ? [columns, ...padded] : padded);
  if (!/^\s*text\/csv\b/i.test(accept)) return { csv };
  return { headers: { "Content-Type": "text/csv; charset=utf-8" }, body: csv };
}
