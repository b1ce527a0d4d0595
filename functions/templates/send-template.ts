import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { sendTemplate } from "../../shared/templates/send.ts";

export const handler = endpoint(
  routes.sendTemplate,
  async ({ actor, organization, params, body, attempt, reportRateLimit }) =>
    sendTemplate(organization, params.id, body, { actor, attempt, reportRateLimit }),
);
