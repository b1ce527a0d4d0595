import { ApiError } from "../../shared/contract/errors.ts";
import { endpoint } from "../../shared/platform/endpoint.ts";
import { fallbackRoute } from "../../shared/routes.ts";

export const handler = endpoint(fallbackRoute, async () => {
  throw new ApiError("NOT_FOUND");
});
