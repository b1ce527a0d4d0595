import * as z from "zod/mini";

import { about, namedObject, withExample } from "./about.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";
import { SenderId } from "./senders.ts";

export const CreateSenderIdRequest = withExample(
  namedObject("CreateSenderIdRequest", {
    senderId: SenderId,
    useCase: about(
      z.optional(text(500)),
      "The purpose of the messages, for the operator who decides on the request.",
    ),
  }),
  { senderId: "ADASHOP", useCase: "One-time codes and news of orders" },
);
export type CreateSenderIdRequest = z.infer<typeof CreateSenderIdRequest>;

export const SenderIdParams = z.object({ id: idSchema("sid") });

export const SenderIdRequest = namedObject("SenderIdRequest", {
  id: idSchema("sid"),
  senderId: SenderId,
  useCase: z.optional(z.string()),
  status: ReviewStatus,
  isDefault: about(z.boolean(), "Whether messages that name no sender ID carry this one."),
  createdAt: Timestamp,
  decidedAt: z.optional(Timestamp),
  rejectionReason: about(z.optional(z.string()), "Why the operator rejected it."),
});
export type SenderIdRequest = z.infer<typeof SenderIdRequest>;
