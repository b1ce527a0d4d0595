import { endpoint } from "../../shared/api/endpoint.ts";
import { launchCampaign } from "../../shared/campaigns/launch.ts";
import { getCampaign } from "../../shared/campaigns/read.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(
  routes.launchCampaign,
  async ({ actor, params }) => launchCampaign(actor.organizationId, params.id),
  async ({ actor, params }) => getCampaign(actor.organizationId, params.id),
);
