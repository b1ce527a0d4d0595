import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verifications.ts";
import { readConversion } from "../../shared/verifications/guard/conversion.ts";

export const handler = endpoint(routes.getVerificationConversion, async ({ actor, query }) =>
  readConversion(actor.organizationId, query.days),
);
