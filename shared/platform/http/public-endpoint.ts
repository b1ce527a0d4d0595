import type { Route } from "../../routes/route.ts";
import { pipeline, type Handle, type LambdaHandler } from "./pipeline.ts";
import { requestInput } from "./request-input.ts";

/**
 * The Lambda handler of a route that anyone may call.
 * @param nameOf what the log calls a request, where the route does not say it; never with what a caller made up
 */
export function publicEndpoint<const R extends Route & { readonly auth: "none" }>(
  route: R,
  handle: Handle<R>,
  nameOf?: (method: string, path: string) => string,
): LambdaHandler {
  return pipeline(route, [requestInput(route)], handle, nameOf);
}
