import {
  CarrierReportAnswer,
  CarrierReportBody,
  CarrierReportParams,
  CarrierReportQuery,
} from "../contract/carriers.ts";
import type { Route } from "./route.ts";

export const getCarrierReport = {
  method: "GET",
  path: "/v1/carriers/{carrier}/{report}",
  tag: "carriers",
  summary: "Receive a delivery receipt or an inbound message in a query string, as from Kannel",
  auth: "none",
  params: CarrierReportParams,
  query: CarrierReportQuery,
  status: 200,
  data: CarrierReportAnswer,
  raw: ["text/xml"],
  errors: ["UNAVAILABLE"],
} as const satisfies Route;

export const postCarrierReport = {
  method: "POST",
  path: "/v1/carriers/{carrier}/{report}",
  tag: "carriers",
  summary: "Receive a delivery receipt or an inbound message as a form or JSON",
  auth: "none",
  params: CarrierReportParams,
  query: CarrierReportQuery,
  body: CarrierReportBody,
  form: true,
  list: true,
  status: 200,
  data: CarrierReportAnswer,
  raw: ["text/xml"],
  errors: [],
} as const satisfies Route;

export const routes = { getCarrierReport, postCarrierReport };
