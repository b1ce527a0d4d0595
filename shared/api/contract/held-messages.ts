import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { storedDetails } from "./message-details.ts";
import { idSchema, PageQuery, Timestamp } from "./primitives.ts";
import { MessageType, Pricing } from "./sms.ts";
import { notNull } from "./validation.ts";

const HeldStatus = about(
  namedEnum("HeldStatus", ["held", "approved", "rejected"]),
  "`held` until a person decides. An approved message was accepted as the message `messageId`.",
);

/** A message above the `holdAbove` of its API key. It is neither charged nor sent before a person approves it. */
export const HeldMessage = namedObject("HeldMessage", {
  id: idSchema("hld"),
  status: HeldStatus,
  to: z.string(),
  message: z.string(),
  senderId: z.string(),
  from: z.optional(z.string()),
  messageType: z.optional(MessageType),
  scheduledAt: z.optional(Timestamp),
  ...storedDetails,
  pricing: Pricing,
  apiKeyId: idSchema("key"),
  heldAt: Timestamp,
  expiresAt: about(Timestamp.clone(), "When it is deleted, a week after `heldAt`."),
  decidedAt: z.optional(Timestamp),
  decidedBy: about(z.optional(idSchema("usr")), "The person who approved or rejected it."),
  messageId: z.optional(idSchema("msg")),
});
export type HeldMessage = z.infer<typeof HeldMessage>;

export const HeldMessagesQuery = z.extend(PageQuery, {
  status: about(z.optional(HeldStatus), "Only messages in this state."),
});
export type HeldMessagesQuery = z.infer<typeof HeldMessagesQuery>;

export const HeldMessageParams = z.object({ id: idSchema("hld") });

export const HeldMessageDecision = withExample(
  namedStrictObject("HeldMessageDecision", {
    approve: z.boolean(),
    total: about(
      notNull(z.optional(z.number().check(z.nonnegative()))),
      "The price that the person saw. If the message costs more now, it stays held. Required once it costs more than " +
        "when it was held.",
    ),
  }),
  { approve: true },
);
export type HeldMessageDecision = z.infer<typeof HeldMessageDecision>;
