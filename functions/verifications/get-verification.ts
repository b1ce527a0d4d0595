import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { getVerification } from "../../shared/verifications/list.ts";

export const handler = endpoint(routes.getVerification, async ({ viewer, params }) =>
  getVerification(viewer, params.id),
);
