import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { callbacksName } from "../../shared/webhooks/callbacks.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";

export const handler = endpoint(routes.rotateCallbackSecret, async ({ viewer }) => {
  const { secret } = await rotateWebhookSecret(viewer, callbacksName);
  return { id: callbacksName, secret };
});
