import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(
  routes.launchCampaign,
  async ({ actor, params, query }) => launchCampaign(actor.organizationId, params.id, query.version),
  { readBefore: async ({ actor, params }) => getCampaign(actor.organizationId, params.id) },
);
