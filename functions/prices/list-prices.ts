import { endpoint } from "../../shared/api/endpoint.ts";
import { listPrices } from "../../shared/prices/list.ts";
import * as routes from "../../shared/routes/prices.ts";

export const handler = endpoint(routes.listPrices, async ({ organization, query }) =>
  listPrices(organization, query),
);
