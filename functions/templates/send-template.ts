import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { sendTemplate } from "../../shared/audience/templates/send.ts";

export const handler = endpoint(
  routes.sendTemplate,
  async ({ actor, organization, params, body, attempt, reportRateLimit }) =>
    sendTemplate(organization, params.id, body, { actor, attempt, reportRateLimit }),
);
