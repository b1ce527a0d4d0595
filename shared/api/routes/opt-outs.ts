import { CreateOptOutRequest, LiftedOptOut, OptOut, OptOutParams } from "../contract/opt-outs.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const listOptOuts = {
  method: "GET",
  path: "/v1/opt-outs",
  summary: "List the numbers that have opted out, in ascending order",
  description: "These numbers get no marketing. People who replied STOP get only one-time codes.",
  scope: "read",
  query: PageQuery,
  data: OptOut,
  paged: true,
} as const satisfies Route;

export const createOptOut = {
  method: "POST",
  path: "/v1/opt-outs",
  summary: "Add an opt-out; an existing opt-out of the number is unchanged",
  description: "Use it when a person asks you by phone or email to stop.",
  scope: "contacts",
  limitedKeys: true,
  body: CreateOptOutRequest,
  status: 201,
  data: OptOut,
  idempotent: true,
  audited: ["phoneNumber", "source", "createdAt"],
} as const satisfies Route;

export const getOptOut = {
  method: "GET",
  path: "/v1/opt-outs/{phoneNumber}",
  summary: "Get the opt-out of a number",
  description: "It has the source of the opt-out. Without an opt-out the response is a 404.",
  scope: "read",
  params: OptOutParams,
  data: OptOut,
} as const satisfies Route;

export const deleteOptOut = {
  method: "DELETE",
  path: "/v1/opt-outs/{phoneNumber}",
  summary: "Lift an opt-out that you added; only the person can lift their own STOP, with START",
  description: "Campaigns reach the number again.",
  scope: "contacts",
  params: OptOutParams,
  data: LiftedOptOut,
  audited: ["source", "createdAt"],
  errors: ["OPT_OUT_BY_REPLY"],
} as const satisfies Route;

export const routes = { listOptOuts, createOptOut, getOptOut, deleteOptOut };
