import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/campaigns.ts";
import { createCampaign } from "../../shared/audience/campaigns/create.ts";
import { requireNoLimits } from "../../shared/messages/accept/key-limits.ts";

export const handler = endpoint(routes.createCampaign, async ({ actor, organization, body, attempt }) => {
  if (body.scheduledAt !== undefined) requireNoLimits(actor);
  return createCampaign(organization, body, attempt);
});
