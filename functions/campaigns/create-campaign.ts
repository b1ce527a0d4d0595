import { endpoint } from "../../shared/api/endpoint.ts";
import { createCampaign } from "../../shared/campaigns/create.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.createCampaign, async ({ organization, body, attempt }) =>
  createCampaign(organization, body, attempt),
);
