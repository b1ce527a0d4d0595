import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { sendTemplate } from "../../shared/templates/send.ts";

export const handler = endpoint(
  routes.sendTemplate,
  async ({ actor, organization, params, body, attempt, reportRateLimit }) =>
    sendTemplate(actor.organizationId, params.id, body, {
      attempt,
      reportRateLimit,
      known: organizationOf(organization),
    }),
);
