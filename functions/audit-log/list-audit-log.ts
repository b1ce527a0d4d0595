import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/audit-log.ts";
import { listAuditLog } from "../../shared/tenancy/audit-log/list.ts";

export const handler = endpoint(routes.listAuditLog, async ({ actor, query }) =>
  listAuditLog(actor.organizationId, query),
);
