import {
  HeldMessage,
  HeldMessageDecision,
  HeldMessageParams,
  HeldMessagesQuery,
} from "../contract/held-messages.ts";
import { sendErrors } from "../contract/send-errors.ts";
import type { Route } from "./route.ts";

export const listHeldMessages = {
  method: "GET",
  path: "/v1/held-messages",
  summary: "List messages that wait for the approval of a person, newest first",
  description: "They are not charged yet. Each expires after a week without a decision.",
  scope: "read",
  query: HeldMessagesQuery,
  data: HeldMessage,
  paged: true,
} as const satisfies Route;

export const getHeldMessage = {
  method: "GET",
  path: "/v1/held-messages/{id}",
  summary: "Get a held message, and the decision about it",
  description: "It has the text, the price and the key that sent it.",
  scope: "read",
  params: HeldMessageParams,
  data: HeldMessage,
} as const satisfies Route;

/** Bundles of the other rows omit a call that is marked as pure, but not a list with `...` in it. */
const decisionErrors = /* @__PURE__ */ (() => ["CONFLICT", ...sendErrors] as const)();

export const decideHeldMessage = {
  method: "POST",
  path: "/v1/held-messages/{id}/decision",
  summary: "Approve a held message, which charges and sends it, or reject it; only a person can",
  description: "Only the first decision counts.",
  scope: "send",
  limitedKeys: true,
  params: HeldMessageParams,
  body: HeldMessageDecision,
  data: HeldMessage,
  audited: ["id", "status", "messageId"],
  errors: decisionErrors,
} as const satisfies Route;

export const routes = { listHeldMessages, getHeldMessage, decideHeldMessage };
