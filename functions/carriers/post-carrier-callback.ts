import * as routes from "../../shared/api/routes/carriers.ts";
import { callbackReceiver } from "../../shared/messages/callbacks/receive.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

const receiveCallback = callbackReceiver();

export const handler = publicEndpoint(routes.postCarrierCallback, async ({ body, ...call }) =>
  receiveCallback({ ...call, callbacks: Array.isArray(body) ? body : [body] }),
);
