import * as z from "zod";

import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";
import { SenderId } from "./sms.ts";

export const CreateSenderIdRequest = z.object({
  senderId: SenderId,
  /** What the messages are about, for whoever decides on the request. */
  useCase: text(500).optional(),
});
export type CreateSenderIdRequest = z.infer<typeof CreateSenderIdRequest>;

export const SenderIdRequest = z.object({
  id: idSchema("sid"),
  senderId: SenderId,
  useCase: z.string().optional(),
  status: ReviewStatus,
  /** Whether messages that name no sender ID carry this one. */
  isDefault: z.boolean(),
  createdAt: Timestamp,
  decidedAt: Timestamp.optional(),
  rejectionReason: z.string().optional(),
});
export type SenderIdRequest = z.infer<typeof SenderIdRequest>;
