import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/verification-profiles.ts";
import { deleteProfile } from "../../shared/verifications/change-profiles.ts";
import { findSavedProfile } from "../../shared/verifications/profiles.ts";

export const handler = endpoint(
  routes.deleteVerificationProfile,
  async ({ actor, params }) => deleteProfile(actor.organizationId, params.name),
  { readBefore: async ({ actor, params }) => findSavedProfile(actor.organizationId, params.name) },
);
