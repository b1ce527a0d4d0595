import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verification-profiles.ts";
import { saveProfile } from "../../shared/verifications/change-profiles.ts";
import { findSavedProfile } from "../../shared/verifications/profiles.ts";

export const handler = endpoint(
  routes.saveVerificationProfile,
  async ({ actor, params, body }) => saveProfile(actor.organizationId, params.name, body),
  { readBefore: async ({ actor, params }) => findSavedProfile(actor.organizationId, params.name) },
);
