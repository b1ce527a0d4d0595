import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { listVerifications } from "../../shared/verifications/list.ts";

export const handler = endpoint(routes.listVerifications, async ({ viewer, query }) =>
  listVerifications(viewer, query),
);
