import { sealAuditLogs } from "../../shared/accounts/audit-logs.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("audit_logs.sealed", sealAuditLogs);
