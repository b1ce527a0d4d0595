import { Price, PricesQuery } from "../contract/prices.ts";
import type { Route } from "./route.ts";

export const listPrices = {
  method: "GET",
  path: "/v1/prices",
  summary: "List the organization's prices per segment, by prefix",
  description: "With `prefix`, the list has the price that applies to a number.",
  scope: "read",
  query: PricesQuery,
  data: Price,
  paged: true,
} as const satisfies Route;

export const routes = { listPrices };
