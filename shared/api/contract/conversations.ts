import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { InboundMessage, InboundQuery, Keyword } from "./inbound.ts";
import { BooleanParameter, idSchema, PageQuery, Timestamp } from "./primitives.ts";
import { DeliveryStatus, MessageErrorCode, MessageStatus, MessageType, SendSmsRequest } from "./sms.ts";

export const ConversationParams = z.object({ id: idSchema("cnv") });

export const Conversation = about(
  namedObject("Conversation", {
    id: idSchema("cnv"),
    number: about(z.string(), "Your number."),
    phoneNumber: about(z.string(), "The number of the phone, or the name or short code, that writes to it."),
    contact: about(
      z.optional(z.object({ id: idSchema("con"), name: z.optional(z.string()) })),
      "The contact that has the number of the phone.",
    ),
    lastInbound: about(z.optional(InboundMessage), "The last inbound message; absent once it was deleted."),
    isUnread: about(z.boolean(), "Whether an inbound message was not read yet."),
    canReply: about(
      z.optional(z.boolean()),
      "Whether messages can be sent to it: the number is yours alone, and the other side is a phone. Absent in lists.",
    ),
  }),
  "The messages between one of your numbers and one phone, from its first message on.",
);
export type Conversation = z.infer<typeof Conversation>;

export const ConversationsQuery = z.safeExtend(PageQuery, {
  unread: about(
    z.optional(BooleanParameter),
    "With `true`, only conversations with an unread message. A call reads up to 1,000 conversations, and `total` counts " +
      "the unread ones among them.",
  ),
  test: InboundQuery.shape.test,
});
export type ConversationsQuery = z.infer<typeof ConversationsQuery>;

export const UpdateConversationRequest = withExample(
  namedStrictObject("UpdateConversationRequest", { isUnread: z.boolean() }),
  { isUnread: false },
);
export type UpdateConversationRequest = z.infer<typeof UpdateConversationRequest>;

export const ReplyRequest = withExample(
  namedStrictObject("ReplyRequest", {
    message: SendSmsRequest.shape.message,
    language: SendSmsRequest.shape.language,
    messageType: z._default(MessageType, "transactional"),
  }),
  { message: "See you at ten." },
);
export type ReplyRequest = z.infer<typeof ReplyRequest>;

const Direction = namedEnum("MessageDirection", ["inbound", "outbound"]);

export const ConversationMessage = about(
  namedObject("ConversationMessage", {
    id: z.union([idSchema("inb"), idSchema("msg")]),
    direction: Direction,
    message: z.string(),
    at: about(Timestamp.clone(), "When it was received, or accepted for sending."),
    keyword: z.optional(Keyword),
    status: z.optional(MessageStatus),
    delivery: z.optional(DeliveryStatus),
    errorCode: z.optional(MessageErrorCode),
  }),
  "A message of a conversation. Outbound messages have a `status`, and a `delivery` once they are sent.",
);
export type ConversationMessage = z.infer<typeof ConversationMessage>;
