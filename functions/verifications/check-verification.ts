import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { checkVerification } from "../../shared/verifications/check.ts";

export const handler = endpoint(routes.checkVerification, async ({ organization, viewer, body, headers }) =>
  checkVerification(organization, viewer, body, headers["idempotency-key"]),
);
