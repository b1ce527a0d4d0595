import { requestVerification } from "../../shared/accounts/users/request-verification.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.requestEmailVerification, async ({ actor }) =>
  requestVerification(actor),
);
