import type { ProtectedRoute } from "../../api/routes/route.ts";
import { warmTokenCheck } from "../../platform/auth/session-token.ts";
import { auditLog, type Auditing, type ReadBefore } from "../../platform/http/audit-log.ts";
import { idempotency } from "../../platform/http/idempotency.ts";
import { pipeline, type Handle, type LambdaHandler } from "../../platform/http/pipeline.ts";
import { requestInput } from "../../platform/http/request-input.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { authentication } from "./authenticate.ts";

/**
 * Returns the Lambda handler of a route that needs a credential.
 * @param readBefore reads the state before an audited operation, for the audit log
 * @param isAudited selects the requests to audit, if not all requests of the route are audited
 */
export function endpoint<const R extends ProtectedRoute>(
  route: R,
  handle: Handle<R, OrganizationRecord>,
  readBefore?: ReadBefore<R>,
  isAudited?: Auditing<R>["isAudited"],
): LambdaHandler {
  // A route without API keys needs the check for each call. On other routes most calls have an API key and do not need it.
  if (route.auth === "session") void warmTokenCheck();
  const { begin, end } = auditLog(route, {
    ...(readBefore && { readBefore }),
    ...(isAudited && { isAudited }),
  });
  return pipeline(
    route,
    [authentication(route), requestInput(route), ...end, ...idempotency(route), ...begin],
    handle,
  );
}
