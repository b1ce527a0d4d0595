import { endpoint } from "../../shared/api/endpoint.ts";
import { getCampaign } from "../../shared/campaigns/read.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.getCampaign, async ({ actor, params }) =>
  getCampaign(actor.organizationId, params.id),
);
