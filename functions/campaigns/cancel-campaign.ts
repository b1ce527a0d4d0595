import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { cancelCampaign } from "../../shared/audience/campaigns/cancel.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";

export const handler = endpoint(
  routes.cancelCampaign,
  async ({ actor, params }) => cancelCampaign(actor.organizationId, params.id),
  { readBefore: async ({ actor, params }) => getCampaign(actor.organizationId, params.id) },
);
