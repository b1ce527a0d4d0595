import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { sendTemplate } from "../../shared/templates/send.ts";

export const handler = endpoint(routes.sendTemplate, async ({ actor, params, body, attempt, addHeaders }) =>
  sendTemplate(actor.organizationId, params.id, body, attempt, addHeaders),
);
