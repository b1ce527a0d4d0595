import * as z from "zod";

import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";
import { SenderId } from "./sms.ts";

export const CreateSenderIdRequest = z
  .object({
    senderId: SenderId,
    useCase: text(500)
      .optional()
      .meta({ description: "What the messages are about, for whoever decides on the request." }),
  })
  .meta({
    id: "CreateSenderIdRequest",
    examples: [{ senderId: "ADASHOP", useCase: "One-time codes and news of orders" }],
  });
export type CreateSenderIdRequest = z.infer<typeof CreateSenderIdRequest>;

export const SenderIdParams = z.object({ id: idSchema("sid") });

export const SenderIdRequest = z
  .object({
    id: idSchema("sid"),
    senderId: SenderId,
    useCase: z.string().optional(),
    status: ReviewStatus,
    isDefault: z.boolean().meta({ description: "Whether messages that name no sender ID carry this one." }),
    createdAt: Timestamp,
    decidedAt: Timestamp.optional(),
    rejectionReason: z.string().optional().meta({ description: "Why the operator rejected it." }),
  })
  .meta({ id: "SenderIdRequest" });
export type SenderIdRequest = z.infer<typeof SenderIdRequest>;
