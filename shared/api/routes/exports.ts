import {
  CreateExportRequest,
  Export,
  ExportParams,
  ExportPart,
  ExportPartParams,
} from "../contract/exports.ts";
import type { Route } from "./route.ts";

export const createExport = {
  method: "POST",
  path: "/v1/exports",
  summary: "Export the rows of a list as CSV, in the background",
  description:
    "It runs in the background, at most 50 times in a day. The person who began it gets an email when it is ready.",
  scope: "personal",
  body: CreateExportRequest,
  status: 202,
  data: Export,
  idempotent: true,
  audited: ["id"],
  errors: ["NOT_FOUND", "WALLET_MISSING"],
} as const satisfies Route;

export const getExport = {
  method: "GET",
  path: "/v1/exports/{id}",
  summary: "Get the progress of an export",
  description:
    "Poll it until its `status` is not `running`, then read its parts from 1 to `parts`. It is deleted a day after it began.",
  scope: "personal",
  params: ExportParams,
  data: Export,
} as const satisfies Route;

export const getExportPart = {
  method: "GET",
  path: "/v1/exports/{id}/parts/{part}",
  summary: "Get a part of an export that is ready; all parts in their order are the CSV file",
  description:
    "It is not found until the export is ready. Append the parts in their order to one file. `Accept: text/csv` returns the text alone.",
  scope: "personal",
  params: ExportPartParams,
  data: ExportPart,
  alternatives: ["text/csv"],
} as const satisfies Route;

export const routes = { createExport, getExport, getExportPart };
