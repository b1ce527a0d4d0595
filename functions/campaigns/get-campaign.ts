import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(routes.getCampaign, async ({ actor, params }) =>
  getCampaign(actor.organizationId, params.id),
);
