import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { resendVerification } from "../../shared/verifications/start.ts";

export const handler = endpoint(
  routes.resendVerification,
  async ({ actor, organization, params, attempt, reportRateLimit }) =>
    resendVerification(organization, params.id, { actor, attempt, reportRateLimit }),
);
