import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import { idSchema, PageQuery, Timestamp } from "./primitives.ts";

const AuditActor = z
  .discriminatedUnion("type", [
    namedObject("AuditUser", {
      type: z.literal("user"),
      userId: idSchema("usr"),
      sessionId: z.optional(z.string()),
    }),
    namedObject("AuditApiKey", {
      type: z.literal("apiKey"),
      keyId: idSchema("key"),
      userId: idSchema("usr"),
    }),
    namedObject("AuditOperator", { type: z.literal("operator") }),
  ])
  .register(z.globalRegistry, {
    id: "AuditActor",
    description:
      "The caller. The `userId` of an API key is the user who created it; `operator` is the operator of the gateway.",
  });

const Facts = z.record(z.string(), z.unknown());

export const AuditEntry = namedObject("AuditEntry", {
  id: idSchema("aud"),
  createdAt: Timestamp,
  actor: AuditActor,
  action: about(z.string(), "The operation, as its method and path, or the operator's command."),
  subject: about(z.optional(Facts), "The resource, by the ids in the path."),
  sourceAddress: about(z.optional(z.string()), "The address that the request came from."),
  requestId: about(z.optional(z.string()), "The `X-Request-Id` of the response."),
  outcome: about(
    namedEnum("AuditOutcome", ["done", "refused", "unknown"]),
    "`refused` has changed nothing; of `unknown`, look at what it was about.",
  ),
  errorCode: about(z.optional(z.string()), "The error code of the response."),
  before: about(z.optional(Facts), "How what it was about was before, without secrets."),
  after: about(z.optional(Facts), "How what it was about was after it, without secrets."),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditLogQuery = z.safeExtend(PageQuery, {
  from: about(z.optional(Timestamp), "Entries of this moment and later."),
  to: about(z.optional(Timestamp), "Entries before this moment."),
});
export type AuditLogQuery = z.infer<typeof AuditLogQuery>;
