import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { reportOutcome } from "../../shared/verifications/end.ts";

export const handler = endpoint(routes.reportVerification, async ({ organization, viewer, params, body }) =>
  reportOutcome(organization, viewer, params.id, body),
);
