import { ApiError } from "../../shared/contract/errors.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import { fallbackRoute, methodsOf } from "../../shared/routes.ts";

export const handler = publicEndpoint(fallbackRoute, async ({ path }) => {
  const methods = methodsOf(path);
  if (methods.length === 0) throw new ApiError("NOT_FOUND");
  throw new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: methods.join(", ") } });
});
