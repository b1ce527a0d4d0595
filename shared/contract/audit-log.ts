import * as z from "zod";

import { idSchema, PageQuery, Timestamp } from "./primitives.ts";

const AuditActor = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("user"), userId: idSchema("usr"), sessionId: z.string().optional() }),
    z.object({ type: z.literal("apiKey"), keyId: idSchema("key"), userId: idSchema("usr") }),
    z.object({ type: z.literal("operator") }),
  ])
  .meta({
    id: "AuditActor",
    description:
      "Who did it. `userId` of an API key is who created it; `operator` is whoever operates the gateway.",
  });

const Facts = z.record(z.string(), z.unknown());

export const AuditEntry = z
  .object({
    id: idSchema("aud"),
    createdAt: Timestamp,
    actor: AuditActor,
    action: z.string().meta({
      description: "The operation, as its method and path, or the operator's command.",
    }),
    subject: Facts.optional().meta({ description: "What it was about: the ids in the path." }),
    sourceAddress: z.string().optional().meta({ description: "The address that the request came from." }),
    requestId: z.string().optional().meta({ description: "`X-Request-Id` of the answer." }),
    outcome: z.enum(["done", "refused", "unknown"]).meta({
      description: "`refused` has changed nothing; of `unknown`, look at what it was about.",
    }),
    errorCode: z
      .string()
      .optional()
      .meta({ description: "The code of the error that it was answered with." }),
    before: Facts.optional().meta({ description: "How what it was about was before, without secrets." }),
    after: Facts.optional().meta({ description: "How what it was about was after it, without secrets." }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditLogQuery = PageQuery.safeExtend({
  from: Timestamp.optional().meta({ description: "Entries of this moment and later." }),
  to: Timestamp.optional().meta({ description: "Entries before this moment." }),
});
export type AuditLogQuery = z.infer<typeof AuditLogQuery>;
