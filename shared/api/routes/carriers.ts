import {
  CarrierCallbackResponse,
  CarrierCallbackBody,
  CarrierCallbackParams,
  CarrierCallbackQuery,
} from "../contract/carriers.ts";
import type { Route } from "./route.ts";

export const getCarrierCallback = {
  method: "GET",
  path: "/v1/carriers/{carrier}/{callback}",
  summary: "Receive a delivery receipt or an inbound message in a query string, as from Kannel",
  internal: true,
  auth: "none",
  params: CarrierCallbackParams,
  query: CarrierCallbackQuery,
  data: CarrierCallbackResponse,
  raw: ["text/xml"],
  errors: ["UNAVAILABLE"],
} as const satisfies Route;

export const postCarrierCallback = {
  method: "POST",
  path: "/v1/carriers/{carrier}/{callback}",
  summary: "Receive a delivery receipt or an inbound message as a form or JSON",
  internal: true,
  auth: "none",
  params: CarrierCallbackParams,
  query: CarrierCallbackQuery,
  body: CarrierCallbackBody,
  form: true,
  list: true,
  data: CarrierCallbackResponse,
  raw: ["text/xml"],
} as const satisfies Route;

export const routes = { getCarrierCallback, postCarrierCallback };
