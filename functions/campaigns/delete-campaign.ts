import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { deleteCampaign } from "../../shared/audience/campaigns/delete.ts";

export const handler = endpoint(routes.deleteCampaign, async ({ actor, params }) =>
  deleteCampaign(actor.organizationId, params.id),
);
