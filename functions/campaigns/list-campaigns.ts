import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { listCampaigns } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(routes.listCampaigns, async ({ actor, query }) =>
  listCampaigns(actor.organizationId, query),
);
