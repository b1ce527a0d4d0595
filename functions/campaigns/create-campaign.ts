import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { createCampaign } from "../../shared/campaigns/create.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/campaigns.ts";

export const handler = endpoint(routes.createCampaign, async ({ actor, organization, body, attempt }) =>
  createCampaign(actor.organizationId, body, attempt, organizationOf(organization)),
);
