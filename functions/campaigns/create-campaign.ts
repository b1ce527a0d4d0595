import { endpoint } from "../../shared/api/endpoint.ts";
import { createCampaign } from "../../shared/campaigns/create.ts";
import { requireNoLimits } from "../../shared/messages/key-limits.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.createCampaign, async ({ actor, organization, body, attempt }) => {
  if (body.scheduledAt !== undefined) requireNoLimits(actor);
  return createCampaign(organization, body, attempt);
});
