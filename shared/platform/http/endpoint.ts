import type { ProtectedRoute } from "../../routes/route.ts";
import { authentication } from "../auth/authenticate.ts";
import { warmSessionKey } from "../auth/session-key.ts";
import { idempotency } from "./idempotency.ts";
import { pipeline, type Handle, type LambdaHandler } from "./pipeline.ts";
import { requestInput } from "./request-input.ts";

/** The Lambda handler of a route that needs a credential. */
export function endpoint<const R extends ProtectedRoute>(route: R, handle: Handle<R>): LambdaHandler {
  void warmSessionKey();
  return pipeline(route, [authentication(route), requestInput(route), ...idempotency(route)], handle);
}
