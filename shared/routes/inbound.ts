import { AssignedNumber, InboundMessage } from "../contract/inbound.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const listInbound = {
  method: "GET",
  path: "/v1/inbound",
  tag: "inbound",
  summary: "List the messages that have come to your numbers, newest first",
  auth: "bearer",
  scope: "read",
  query: PageQuery,
  status: 200,
  data: InboundMessage,
  paged: true,
  errors: [],
} as const satisfies Route;

export const listNumbers = {
  method: "GET",
  path: "/v1/numbers",
  tag: "inbound",
  summary: "List the numbers that people can write to you at",
  auth: "bearer",
  scope: "read",
  query: PageQuery,
  status: 200,
  data: AssignedNumber,
  paged: true,
  errors: [],
} as const satisfies Route;

export const routes = { listInbound, listNumbers };
