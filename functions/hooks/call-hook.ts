import { receiveHookCall } from "../../shared/accounts/hooks/receive.ts";
import * as routes from "../../shared/api/routes/hooks.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.callHook, async ({ params, ...call }) =>
  receiveHookCall(params.id, call),
);
