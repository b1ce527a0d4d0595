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
  tag: "exports",
  summary: "Export the rows of a list as CSV, in the background",
  auth: "bearer",
  scope: "read",
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
  tag: "exports",
  summary: "Get the progress of an export",
  auth: "bearer",
  scope: "read",
  params: ExportParams,
  data: Export,
} as const satisfies Route;

export const getExportPart = {
  method: "GET",
  path: "/v1/exports/{id}/parts/{part}",
  tag: "exports",
  summary: "Get a part of an export that is ready; all parts in their order are the CSV file",
  auth: "bearer",
  scope: "read",
  params: ExportPartParams,
  data: ExportPart,
  alternatives: ["text/csv"],
} as const satisfies Route;

export const routes = { createExport, getExport, getExportPart };
