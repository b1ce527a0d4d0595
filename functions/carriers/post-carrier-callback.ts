import { callbackReceiver } from "../../shared/carrier-callbacks/receive.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/carriers.ts";

const receiveCallback = callbackReceiver();

export const handler = publicEndpoint(routes.postCarrierCallback, async ({ body, ...call }) =>
  receiveCallback({ ...call, callbacks: Array.isArray(body) ? body : [body] }),
);
