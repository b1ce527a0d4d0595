import { AuditEntry, AuditLogQuery } from "../contract/audit-log.ts";
import type { Route } from "./route.ts";

export const listAuditLog = {
  method: "GET",
  path: "/v1/audit-log",
  summary: "Who changed what in the organization, newest first",
  description: "Each entry has the caller, the change and the time. Nothing deletes entries.",
  scope: "personal",
  query: AuditLogQuery,
  data: AuditEntry,
  paged: true,
} as const satisfies Route;

export const routes = { listAuditLog };
