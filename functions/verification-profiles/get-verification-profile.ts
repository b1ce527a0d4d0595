import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verification-profiles.ts";
import { findProfile } from "../../shared/verifications/profiles.ts";

export const handler = endpoint(routes.getVerificationProfile, async ({ actor, params }) =>
  findProfile(actor.organizationId, params.name),
);
