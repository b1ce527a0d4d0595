import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { ApiError } from "../contract/errors.ts";
import { now } from "./clock.ts";
import { momentOf, newId } from "./ids.ts";
import { log } from "./log.ts";
import { keys } from "./table/keys.ts";
import { putItem, type Put } from "./table/table.ts";

/*
 * The audit log: who did what, when, from where, and what it changed. An entry is written before the deed, or with it, so
 * that there is no deed without one; what came of the deed is an item of its own, so that nothing is ever changed. No
 * function may do anything but put items here and read them, and each is put where there is none.
 */

/** Who does something. */
export const AuditActor = z.discriminatedUnion("type", [
  z.object({ type: z.literal("user"), userId: z.string(), sessionId: z.optional(z.string()) }),
  /** `userId` is who created the key. */
  z.object({ type: z.literal("apiKey"), keyId: z.string(), userId: z.string() }),
  /** With whose credentials of AWS. */
  z.object({ type: z.literal("operator"), identity: z.string() }),
]);
export type AuditActor = z.infer<typeof AuditActor>;

const Facts = z.record(z.string(), z.unknown());
type Facts = z.infer<typeof Facts>;

/** What came of a deed: done; refused, so that nothing was changed; or not known. */
const AuditOutcome = z.enum(["done", "refused", "unknown"]);

const Ending = z.object({
  outcome: AuditOutcome,
  /** The code that the caller got instead of an answer. */
  errorCode: z.optional(z.string()),
  /** How things were after it. */
  after: z.optional(Facts),
});
export type Ending = z.infer<typeof Ending>;

export const AuditEntryRecord = z.object({
  entity: z.literal("auditEntry"),
  id: z.string(),
  /** Whose log it is in; none of what an operator does to the whole stage. */
  organizationId: z.optional(z.string()),
  createdAt: z.string(),
  actor: AuditActor,
  /** A route, for example `POST /v1/wallet/top-up`, or a command of the operator. */
  action: z.string(),
  /** What it was about: the ids in the path, or what the operator typed. */
  subject: z.optional(Facts),
  sourceAddress: z.optional(z.string()),
  requestId: z.optional(z.string()),
  /** How things were before it. */
  before: z.optional(Facts),
  /** Of what was written when it was done already. */
  ending: z.optional(Ending),
});
export type AuditEntryRecord = z.infer<typeof AuditEntryRecord>;

export const AuditOutcomeRecord = z.extend(Ending, {
  entity: z.literal("auditOutcome"),
  id: z.string(),
  endedAt: z.string(),
});
export type AuditOutcomeRecord = z.infer<typeof AuditOutcomeRecord>;

/** The log of an organisation, or that of the stage. */
export function auditLogOf(organizationId: string | undefined): string {
  return organizationId ?? "stage";
}

/**
 * What the log has in the place of a phone number. Nothing is ever taken from the log, so that no number may stand there;
 * the digest still tells whether an entry is about a number that is known. It is another one for each organization.
 */
export function digestOfNumber(organizationId: string, phoneNumber: string): string {
  return createHash("sha256").update(`${organizationId} ${phoneNumber}`).digest("hex");
}

export type Deed = Omit<AuditEntryRecord, "createdAt" | "entity" | "id">;

/** The write of an entry, for the transaction of the deed itself. */
export function auditEntry(deed: Deed): Put & { readonly put: AuditEntryRecord } {
  const id = newId("aud");
  // The very moment that is in its id, by which the log is read.
  const createdAt = momentOf(id).toISOString();
  const record: AuditEntryRecord = { entity: "auditEntry", id, createdAt, ...deed };
  return {
    put: { ...keys.auditEntry(auditLogOf(deed.organizationId), record.id), ...record },
    condition: "attribute_not_exists(pk)",
  };
}

/**
 * Writes down that something will be done, or was.
 * @throws ApiError UNAVAILABLE when it could not be written, so that it must not be done
 */
export async function writeAuditEntry(deed: Deed): Promise<AuditEntryRecord> {
  const entry = auditEntry(deed);
  const isOwn = ({ id }: Record<string, unknown>): boolean => id === entry.put.id;
  const written = await putItem(entry, { isOwn }).catch((error: unknown) => {
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (!written.applied) throw new ApiError("UNAVAILABLE");
  return entry.put;
}

/**
 * Writes down what came of it. When that cannot be written the entry stays without, which reads as not known: what was
 * done is done, and whoever did it is told so.
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
  await putItem({
    put: { ...keys.auditOutcome(auditLogOf(organizationId), id), ...record },
    condition: "attribute_not_exists(pk)",
  }).catch((error: unknown) => {
    log.error("audit_log.outcome_not_written", { organizationId, error });
  });
}
