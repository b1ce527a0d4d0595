import { rotateApiKey } from "../../shared/accounts/make-api-keys.ts";
import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.rotateApiKey, async ({ actor, organization, params, body }) =>
  rotateApiKey(actor, organizationOf(organization), params.id, body),
);
