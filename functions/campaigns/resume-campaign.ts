import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { resumeCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(
  routes.resumeCampaign,
  async ({ actor, params }) => resumeCampaign(actor.organizationId, params.id),
  { readBefore: async ({ actor, params }) => getCampaign(actor.organizationId, params.id) },
);
