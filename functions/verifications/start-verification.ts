import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { startVerification } from "../../shared/verifications/start.ts";

export const handler = endpoint(
  routes.startVerification,
  async ({ actor, organization, body, attempt, reportRateLimit }) =>
    startVerification(organization, body, { actor, attempt, reportRateLimit }),
);
