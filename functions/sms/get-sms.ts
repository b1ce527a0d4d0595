import { endpoint } from "../../shared/api/endpoint.ts";
import { getMessage } from "../../shared/messages/read.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.getSms, async ({ actor, params }) =>
  getMessage(actor.organizationId, params.id),
);
