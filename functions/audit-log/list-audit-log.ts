import { endpoint } from "../../shared/api/endpoint.ts";
import { listAuditLog } from "../../shared/audit-log/list.ts";
import * as routes from "../../shared/routes/audit-log.ts";

export const handler = endpoint(routes.listAuditLog, async ({ actor, query }) =>
  listAuditLog(actor.organizationId, query),
);
