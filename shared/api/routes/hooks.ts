import * as contract from "../contract/hooks.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";
import { startErrors } from "./verifications.ts";

export const listHooks = {
  method: "GET",
  path: "/v1/hooks",
  summary: "List hooks, without their tokens",
  description:
    "Each hook has the time of its last call. Hooks are API keys too, so the list of keys has them as well.",
  scope: "keys",
  query: PageQuery,
  data: contract.Hook,
  paged: true,
} as const satisfies Route;

export const createHook = {
  method: "POST",
  path: "/v1/hooks",
  summary: "Create a hook, which a login system calls to send its codes; its token is only in this response",
  description:
    "The login system makes the code and checks it; the gateway sends it with the text of a verification profile. The guide to " +
    "login systems has a section for each of them.",
  scope: "keys",
  limitedKeys: true,
  body: contract.CreateHookRequest,
  recentProof: true,
  status: 201,
  data: contract.CreatedHook,
  rejectsIdempotencyKey: true,
  audited: ["id", "kind", "profile", "status", "limits"],
  errors: ["CONFLICT", "NOT_FOUND"],
} as const satisfies Route;

export const deleteHook = {
  method: "DELETE",
  path: "/v1/hooks/{id}",
  summary: "Delete a hook; calls to it are then rejected",
  description:
    "Messages that it has sent stay. To replace its token or secret, create another hook and delete this one.",
  scope: "keys",
  limitedKeys: true,
  params: contract.HookParams,
  data: contract.DeletedHook,
  audited: ["id", "kind", "profile", "status", "limits"],
} as const satisfies Route;

/** Bundles of the other rows omit a call that is marked as pure, but not a list with `...` in it. */
const callErrors = /* @__PURE__ */ (() =>
  [
    ...startErrors,
    "UNAUTHORIZED",
    "RATE_LIMITED",
    "ORGANIZATION_SUSPENDED",
    "VALIDATION_ERROR",
    "IDEMPOTENCY_IN_PROGRESS",
    "UNAVAILABLE",
  ] as const)();

/** It has no schema of a body, because nothing of a call is read before its proof. */
export const callHook = {
  method: "POST",
  path: "/v1/hooks/{id}",
  summary: "Receive a code from a login system, and send it",
  internal: true,
  auth: "none",
  params: contract.HookCallParams,
  data: contract.HookCallResponse,
  raw: ["application/json"],
  errors: callErrors,
} as const satisfies Route;

export const routes = { listHooks, createHook, deleteHook, callHook };
