import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { listRecipients } from "../../shared/audience/campaigns/results.ts";

export const handler = endpoint(routes.listCampaignRecipients, async ({ actor, params, query }) =>
  listRecipients(actor.organizationId, params.id, query),
);
