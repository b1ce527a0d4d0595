import type { Route } from "../../api/routes/route.ts";
import { pipeline, type Handle, type LambdaHandler } from "./pipeline.ts";
import { requestInput } from "./request-input.ts";

/**
 * Returns the Lambda handler of a route that anyone may call.
 * @param nameOf the name of a request in the log, if it differs from the route's; it must not contain text of the caller
 */
export function publicEndpoint<const R extends Route & { readonly auth: "none" }>(
  route: R,
  handle: Handle<R>,
  nameOf?: (method: string, path: string) => string,
): LambdaHandler {
  return pipeline(route, [requestInput(route)], handle, nameOf);
}
