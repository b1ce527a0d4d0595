import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { updateCampaign } from "../../shared/audience/campaigns/update.ts";

export const handler = endpoint(
  routes.updateCampaign,
  async ({ organization, params, body }) => updateCampaign(organization, params.id, body),
  { readBefore: async ({ actor, params }) => getCampaign(actor.organizationId, params.id) },
);
