import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/prices.ts";
import { listPrices } from "../../shared/money/prices/list.ts";

export const handler = endpoint(routes.listPrices, async ({ organization, query }) =>
  listPrices(organization, query),
);
