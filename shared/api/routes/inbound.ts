import { AssignedNumber, InboundMessage, InboundQuery, TestInboundRequest } from "../contract/inbound.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const listInbound = {
  method: "GET",
  path: "/v1/inbound",
  tag: "inbound",
  summary: "List inbound messages, newest first",
  auth: "bearer",
  scope: "read",
  testKeys: true,
  query: InboundQuery,
  data: InboundMessage,
  paged: true,
} as const satisfies Route;

export const listNumbers = {
  method: "GET",
  path: "/v1/numbers",
  tag: "inbound",
  summary: "List your numbers for inbound messages",
  auth: "bearer",
  scope: "read",
  query: PageQuery,
  data: AssignedNumber,
  paged: true,
} as const satisfies Route;

export const testInbound = {
  method: "POST",
  path: "/v1/test/inbound",
  tag: "inbound",
  summary: "Simulate an inbound message, with its event",
  auth: "bearer",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  body: TestInboundRequest,
  status: 202,
  data: InboundMessage,
  errors: ["TEST_LIMIT_REACHED"],
} as const satisfies Route;

export const routes = { listInbound, listNumbers, testInbound };
