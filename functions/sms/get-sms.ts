import { getMessage } from "../../shared/messages/read.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.getSms, async ({ actor, params }) =>
  getMessage(actor.organizationId, params.id),
);
