import { endpoint } from "../../shared/api/endpoint.ts";
import { listCampaigns } from "../../shared/campaigns/read.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.listCampaigns, async ({ actor, query }) =>
  listCampaigns(actor.organizationId, query),
);
