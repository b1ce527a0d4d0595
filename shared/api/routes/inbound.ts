import { AssignedNumber, InboundMessage, InboundQuery, TestInboundRequest } from "../contract/inbound.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const listInbound = {
  method: "GET",
  path: "/v1/inbound",
  summary: "List inbound messages, newest first",
  description: "Subscribe to the event `message.received` to get them immediately.",
  scope: "read",
  testKeys: true,
  query: InboundQuery,
  data: InboundMessage,
  paged: true,
} as const satisfies Route;

export const listNumbers = {
  method: "GET",
  path: "/v1/numbers",
  summary: "List your numbers for inbound messages",
  description: "People can write to these numbers. The operator assigns them.",
  scope: "read",
  query: PageQuery,
  data: AssignedNumber,
  paged: true,
} as const satisfies Route;

export const testInbound = {
  method: "POST",
  path: "/v1/test/inbound",
  summary: "Simulate an inbound message, with its event",
  description: "Use it to test your handling of replies without a phone. Keywords have no effect.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  body: TestInboundRequest,
  status: 202,
  data: InboundMessage,
  idempotent: true,
  errors: ["TEST_LIMIT_REACHED"],
} as const satisfies Route;

export const routes = { listInbound, listNumbers, testInbound };
