import { endpoint } from "../../shared/api/endpoint.ts";
import { cancelCampaign } from "../../shared/campaigns/cancel.ts";
import { getCampaign } from "../../shared/campaigns/read.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(
  routes.cancelCampaign,
  async ({ actor, params }) => cancelCampaign(actor.organizationId, params.id),
  async ({ actor, params }) => getCampaign(actor.organizationId, params.id),
);
