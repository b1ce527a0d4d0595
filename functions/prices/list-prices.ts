import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { listPrices } from "../../shared/prices/list.ts";
import * as routes from "../../shared/routes/prices.ts";

export const handler = endpoint(routes.listPrices, async ({ organization, query }) =>
  listPrices(organizationOf(organization), query),
);
