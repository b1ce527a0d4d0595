import { PageQuery } from "../contract/primitives.ts";
import { CreateSenderIdRequest, SenderIdParams, SenderIdRequest } from "../contract/sender-ids.ts";
import type { Route } from "./route.ts";

/** The fields of a sender ID that the audit log keeps. */
const auditedOfSenderId = ["id", "senderId", "status", "isDefault"] as const;

export const listSenderIds = {
  method: "GET",
  path: "/v1/sender-ids",
  summary: "List sender ID requests, newest first",
  description: "Each request has its state, and the reason if the operator has rejected it.",
  scope: "read",
  query: PageQuery,
  data: SenderIdRequest,
  paged: true,
} as const satisfies Route;

export const createSenderId = {
  method: "POST",
  path: "/v1/sender-ids",
  summary: "Request a sender ID; an operator approves or rejects it",
  description: "Some gateways send only with sender IDs that the operator has approved.",
  scope: "send",
  body: CreateSenderIdRequest,
  status: 201,
  data: SenderIdRequest,
  idempotent: true,
  audited: auditedOfSenderId,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const setDefaultSenderId = {
  method: "POST",
  path: "/v1/sender-ids/{id}/default",
  summary: "Make an approved sender ID the default for messages without a `senderId`",
  description: "Messages may still name another sender ID.",
  scope: "send",
  params: SenderIdParams,
  data: SenderIdRequest,
  audited: auditedOfSenderId,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const routes = { listSenderIds, createSenderId, setDefaultSenderId };
