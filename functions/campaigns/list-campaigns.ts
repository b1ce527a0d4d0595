import { listCampaigns } from "../../shared/campaigns/read.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.listCampaigns, async ({ actor, query }) =>
  listCampaigns(actor.organizationId, query),
);
