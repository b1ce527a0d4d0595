import {
  Conversation,
  ConversationMessage,
  ConversationParams,
  ConversationsQuery,
  ReplyRequest,
  UpdateConversationRequest,
} from "../contract/conversations.ts";
import { PageQuery } from "../contract/primitives.ts";
import { sendErrors } from "../contract/send-errors.ts";
import { AcceptedMessage } from "../contract/sms.ts";
import type { Route } from "./route.ts";

export const listConversations = {
  method: "GET",
  path: "/v1/conversations",
  summary: "List conversations, the one with the newest inbound message first",
  description:
    "A conversation begins with the first inbound message to one of your numbers. Use `unread` to find those that wait for a " +
    "reply.",
  scope: "read",
  testKeys: true,
  query: ConversationsQuery,
  data: Conversation,
  paged: true,
} as const satisfies Route;

export const getConversation = {
  method: "GET",
  path: "/v1/conversations/{id}",
  summary: "Get a conversation",
  description: "The field `canReply` shows whether you can send from its number.",
  scope: "read",
  testKeys: true,
  params: ConversationParams,
  data: Conversation,
} as const satisfies Route;

export const listConversationMessages = {
  method: "GET",
  path: "/v1/conversations/{id}/messages",
  summary: "List the messages of a conversation, newest first",
  description: "It has both directions. A message of a campaign follows once it is sent.",
  scope: "read",
  testKeys: true,
  params: ConversationParams,
  query: PageQuery,
  data: ConversationMessage,
  paged: true,
} as const satisfies Route;

/** Bundles of the other rows omit a call that is marked as pure, but not a list with `...` in it. */
const replyErrors = /* @__PURE__ */ (() => ["CONFLICT", ...sendErrors] as const)();

export const replyToConversation = {
  method: "POST",
  path: "/v1/conversations/{id}/messages",
  summary: "Reply from your number of a conversation, charged like a send",
  description:
    "The message comes from the number that the person wrote to. If the person replied STOP, it is rejected.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  params: ConversationParams,
  body: ReplyRequest,
  status: 202,
  data: AcceptedMessage,
  idempotent: true,
  errors: replyErrors,
} as const satisfies Route;

export const updateConversation = {
  method: "PATCH",
  path: "/v1/conversations/{id}",
  summary: "Mark a conversation as read or unread",
  description: "A later inbound message makes it unread again.",
  scope: "send",
  testKeys: true,
  params: ConversationParams,
  body: UpdateConversationRequest,
  data: Conversation,
} as const satisfies Route;

export const routes = {
  listConversations,
  getConversation,
  listConversationMessages,
  replyToConversation,
  updateConversation,
};
