import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { warmTokenCheck } from "../platform/auth/session-token.ts";
import { auditLog, type Auditing, type ReadBefore } from "../platform/http/audit-log.ts";
import { idempotency } from "../platform/http/idempotency.ts";
import { pipeline, type Handle, type LambdaHandler } from "../platform/http/pipeline.ts";
import { requestInput } from "../platform/http/request-input.ts";
import type { ProtectedRoute } from "../routes/route.ts";
import { authentication } from "./authenticate.ts";

/**
 * The Lambda handler of a route that needs a credential.
 * @param readBefore of an operation that is audited: what the audit log says of the state before it
 * @param isAudited of an operation that is audited for some requests only: for which
 */
export function endpoint<const R extends ProtectedRoute>(
  route: R,
  handle: Handle<R, OrganizationRecord>,
  readBefore?: ReadBefore<R>,
  isAudited?: Auditing<R>["isAudited"],
): LambdaHandler {
  // Where an API key is of no use, each call needs it; elsewhere most calls come with one, and would wait for nothing.
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
