import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { requestVerification } from "../../shared/tenancy/users/request-verification.ts";

export const handler = endpoint(routes.requestEmailVerification, async ({ actor }) =>
  requestVerification(actor),
);
