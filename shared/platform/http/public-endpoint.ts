import type { Route } from "../../routes/route.ts";
import { pipeline, type Handle, type LambdaHandler } from "./pipeline.ts";
import { requestInput } from "./request-input.ts";

/** The Lambda handler of a route that anyone may call. */
export function publicEndpoint<const R extends Route & { readonly auth: "none" }>(
  route: R,
  handle: Handle<R>,
): LambdaHandler {
  return pipeline(route, [requestInput(route)], handle);
}
