import { AssignedNumber, InboundMessage } from "../contract/inbound.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const listInbound = {
  method: "GET",
  path: "/v1/inbound",
  tag: "inbound",
  summary: "List inbound messages, newest first",
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
  summary: "List your numbers for inbound messages",
  auth: "bearer",
  scope: "read",
  query: PageQuery,
  status: 200,
  data: AssignedNumber,
  paged: true,
  errors: [],
} as const satisfies Route;

export const routes = { listInbound, listNumbers };
