import type { ProtectedRoute } from "../../api/routes/route.ts";
import { warmTokenCheck } from "../../platform/auth/session-token.ts";
import { auditLog, type Auditing } from "../../platform/http/audit-log.ts";
import { idempotency } from "../../platform/http/idempotency.ts";
import { pipeline, type Handle, type LambdaHandler } from "../../platform/http/pipeline.ts";
import { requestInput } from "../../platform/http/request-input.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { authentication } from "./authenticate.ts";

/**
 * Returns the Lambda handler of a route that needs a credential.
 * @param auditing for the audit log: `readBefore` reads the state before the operation; `isAudited` selects requests, if not
 *   all of the route are audited
 * @example endpoint(routes.getWallet, async ({ actor }) => getWallet(actor.organizationId))
 */
export function endpoint<const R extends ProtectedRoute>(
  route: R,
  handle: Handle<R, OrganizationRecord>,
  auditing: Auditing<R> = {},
): LambdaHandler {
  // A route without API keys needs the check for each call. On other routes most calls have an API key and do not need it.
  if (route.auth === "session") void warmTokenCheck();
  const { begin, end } = auditLog(route, auditing);
  return pipeline(
    route,
    [authentication(route), requestInput(route), ...end, ...idempotency(route), ...begin],
    handle,
  );
}
