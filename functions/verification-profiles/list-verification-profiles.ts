import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verification-profiles.ts";
import { listProfiles } from "../../shared/verifications/profiles.ts";

export const handler = endpoint(routes.listVerificationProfiles, async ({ actor, query }) =>
  listProfiles(actor.organizationId, query),
);
