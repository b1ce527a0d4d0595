import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { pauseCampaign } from "../../shared/audience/campaigns/pause.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(
  routes.pauseCampaign,
  async ({ actor, params }) => pauseCampaign(actor.organizationId, params.id),
  { readBefore: async ({ actor, params }) => getCampaign(actor.organizationId, params.id) },
);
