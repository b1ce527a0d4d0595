import * as z from "zod";

import { PageQuery, idSchema } from "../contract/primitives.ts";
import { CreateSenderIdRequest, SenderIdRequest } from "../contract/sender-ids.ts";
import type { Route } from "./route.ts";

export const routes = {
  listSenderIds: {
    method: "GET",
    path: "/v1/sender-ids",
    tag: "sender-ids",
    summary: "List sender ID requests, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: SenderIdRequest,
    paged: true,
    errors: [],
  },
  createSenderId: {
    method: "POST",
    path: "/v1/sender-ids",
    tag: "sender-ids",
    summary: "Request a sender ID; an operator approves or rejects it",
    auth: "bearer",
    body: CreateSenderIdRequest,
    status: 201,
    data: SenderIdRequest,
    errors: ["CONFLICT"],
  },
  setDefaultSenderId: {
    method: "POST",
    path: "/v1/sender-ids/{id}/default",
    tag: "sender-ids",
    summary: "Make an approved sender ID the one of messages that name none",
    auth: "bearer",
    params: z.object({ id: idSchema("sid") }),
    status: 200,
    data: SenderIdRequest,
    errors: ["CONFLICT"],
  },
} as const satisfies Record<string, Route>;
