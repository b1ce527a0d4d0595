import { getMessage } from "../../shared/messages/list.ts";
import { endpoint } from "../../shared/platform/endpoint.ts";
import { routes } from "../../shared/routes.ts";

export const handler = endpoint(routes.getSms, async ({ actor, params }) =>
  getMessage(actor.organizationId, params.id),
);
