import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../clock.ts";
import { momentOf, newId } from "../ids.ts";
import { log } from "../log.ts";
import { keys } from "./keys.ts";
import { insertOf, type Put, putItem } from "./write.ts";

/*
 * The audit log: each action with its actor, time, address and changes. The entry is written before the action or in its
 * transaction, so that no action is without one. The outcome is an item of its own, because items are never changed.
 * Functions can only read items and put new ones.
 */

/** The actor of an event. */
export const AuditActor = z.discriminatedUnion("type", [
  z.object({ type: z.literal("user"), userId: z.string(), sessionId: z.optional(z.string()) }),
  /** `userId` is the creator of the key. */
  z.object({ type: z.literal("apiKey"), keyId: z.string(), userId: z.string() }),
  /**
   * `identity` is the sender of the entry as SQS names it: the ID of a user, or of a role with the session's name.
   * `claimedArn` is not proven. Release 0.3.0 had that ARN as the `identity`.
   */
  z.object({ type: z.literal("operator"), identity: z.string(), claimedArn: z.optional(z.string()) }),
]);
export type AuditActor = z.infer<typeof AuditActor>;

const Facts = z.record(z.string(), z.unknown());
type Facts = z.infer<typeof Facts>;

/** The outcome of an action: done, rejected without a change, or unknown. */
const AuditOutcome = z.enum(["done", "refused", "unknown"]);

export const Ending = z.object({
  outcome: AuditOutcome,
  /** The error code that the caller received. */
  errorCode: z.optional(z.string()),
  /** The state after the action. */
  after: z.optional(Facts),
});
export type Ending = z.infer<typeof Ending>;

export const AuditEntryRecord = z.object({
  entity: z.literal("auditEntry"),
  id: z.string(),
  /** The organization whose log has the entry. Absent for an action on the whole stage. */
  organizationId: z.optional(z.string()),
  createdAt: z.string(),
  actor: AuditActor,
  /** A route, for example `POST /v1/wallet/top-up`, or a command of the operator. */
  action: z.string(),
  /** The subject: the IDs in the path, or the input of the operator. */
  subject: z.optional(Facts),
  sourceAddress: z.optional(z.string()),
  requestId: z.optional(z.string()),
  /** The state before the action. */
  before: z.optional(Facts),
  /** Present if the action was done already when the entry was written. */
  ending: z.optional(Ending),
});
export type AuditEntryRecord = z.infer<typeof AuditEntryRecord>;

export const AuditOutcomeRecord = z.extend(Ending, {
  entity: z.literal("auditOutcome"),
  id: z.string(),
  endedAt: z.string(),
});
export type AuditOutcomeRecord = z.infer<typeof AuditOutcomeRecord>;

/** The ID of an organization's log, or of the stage's. */
export function auditLogOf(organizationId: string | undefined): string {
  return organizationId ?? "stage";
}

/**
 * The digest that replaces a phone number. Entries are never erased, so they must not contain numbers. The digest shows
 * whether an entry is about a known number. Each organization has its own.
 */
export function digestOfNumber(organizationId: string, phoneNumber: string): string {
  return createHash("sha256").update(`${organizationId} ${phoneNumber}`).digest("hex");
}

export type AuditEvent = Omit<AuditEntryRecord, "createdAt" | "entity" | "id">;

/**
 * The write of an entry, for the transaction of its action.
 * @param at by default the time in its ID, by which the log is read
 */
function auditEntry(event: AuditEvent, id = newId("aud"), at = momentOf(id)): Put<"auditEntry"> {
  const record: AuditEntryRecord = { entity: "auditEntry", id, createdAt: at.toISOString(), ...event };
  return insertOf(keys.auditEntry(auditLogOf(event.organizationId), id), record);
}

/** Returns the write of the entry of a user who does something without a session. */
export function entryOfUser(
  action: string,
  { id: userId, organizationId }: { readonly id: string; readonly organizationId: string },
  sourceAddress: string,
  after?: Ending["after"],
): Put<"auditEntry"> {
  const ending = { outcome: "done", ...(after && { after }) } as const;
  return auditEntry({ organizationId, actor: { type: "user", userId }, action, sourceAddress, ending });
}

/**
 * Writes an entry. With an ID it can be repeated.
 * @throws ApiError UNAVAILABLE when it could not be written, so that the action must not happen, or another actor has its ID
 */
export async function writeAuditEntry(
  event: AuditEvent,
  id = newId("aud"),
  at?: Date,
): Promise<AuditEntryRecord> {
  const entry = auditEntry(event, id, at);
  const identityOf = (actor: unknown): unknown => Object(actor)["identity"];
  const isOwn = (found: Record<string, unknown>): boolean =>
    found["id"] === id && identityOf(found["actor"]) === identityOf(event.actor);
  const written = await putItem(entry, { isOwn }).catch((error: unknown) => {
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (!written.applied) throw new ApiError("UNAVAILABLE");
  return entry.put;
}

/**
 * Writes the outcome of an action. If that fails, the entry has no outcome, which reads as unknown. The caller still
 * receives the result of the action.
 */
export async function writeAuditOutcome(
  { id, organizationId }: Pick<AuditEntryRecord, "id" | "organizationId">,
  ending: Ending,
): Promise<void> {
  const record: AuditOutcomeRecord = {
    entity: "auditOutcome",
    id,
    endedAt: now().toISOString(),
    ...ending,
  };
  const key = keys.auditOutcome(auditLogOf(organizationId), id);
  await putItem(insertOf(key, record)).catch((error: unknown) => {
    log.error("audit_log.outcome_not_written", { organizationId, error });
  });
}
