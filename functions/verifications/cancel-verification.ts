import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { cancelVerification } from "../../shared/verifications/end.ts";

export const handler = endpoint(routes.cancelVerification, async ({ organization, viewer, params }) =>
  cancelVerification(organization, viewer, params.id),
);
