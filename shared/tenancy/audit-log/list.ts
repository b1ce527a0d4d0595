import type { AuditEntry, AuditLogQuery } from "../../api/contract/audit-log.ts";
import { invalidField } from "../../api/contract/errors.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { firstIdAt } from "../../platform/ids.ts";
import {
  AuditEntryRecord,
  auditLogOf,
  AuditOutcomeRecord,
  type Ending,
} from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { itemsOf, queryRows } from "../../platform/table/read.ts";

/** An entry of the audit log with its outcome. */
export type EndedEntry = Omit<AuditEntryRecord, "ending"> & Ending;

/**
 * Returns a page of an organization's audit log, newest first.
 * @throws ApiError VALIDATION_ERROR for a period that ends before it begins
 */
export async function listAuditLog(organizationId: string, query: AuditLogQuery): Promise<Page<AuditEntry>> {
  const { from, to } = query;
  if (from !== undefined && to !== undefined && Date.parse(to) < Date.parse(from)) {
    throw invalidField("to", "must not be before `from`");
  }
  const page = await readWantedPage(
    AuditEntryRecord,
    {
      pk: keys.auditEntry(organizationId, "").pk,
      newestFirst: true,
      consistent: true,
      ...(from === undefined ? {} : { from: firstIdAt("aud", new Date(from)) }),
      ...(to === undefined ? {} : { to: firstIdAt("aud", new Date(to)) }),
    },
    query,
    () => true,
  );
  const ended = await withOutcomes(organizationId, page.rows);
  return { rows: ended.map(toApiEntry), meta: page.meta };
}

/**
 * Returns the newest entries of a log, newest first.
 * @param organizationId undefined for the log of the stage
 */
export async function readAuditLog(
  organizationId: string | undefined,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<EndedEntry[]> {
  const { pk } = keys.auditEntry(auditLogOf(organizationId), "");
  const rows = await queryRows(AuditEntryRecord, { pk, after, limit, newestFirst: true, consistent: true });
  return withOutcomes(organizationId, itemsOf(rows));
}

/** Adds the outcomes to consecutive entries, newest first. */
async function withOutcomes(
  organizationId: string | undefined,
  entries: readonly AuditEntryRecord[],
): Promise<EndedEntry[]> {
  const [newest, oldest] = [entries[0], entries.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const ofOutcomes = {
    pk: keys.auditOutcome(auditLogOf(organizationId), "").pk,
    from: oldest.id,
    to: newest.id,
    consistent: true,
    skipsUnreadable: true,
  };
  const outcomes = new Map<string, Ending>();
  // Items without an entry must not displace others.
  for await (const outcome of itemsIn(AuditOutcomeRecord, ofOutcomes, entries.length)) {
    outcomes.set(outcome.id, outcome);
  }
  return entries.map(({ ending, ...entry }) => {
    const { outcome, errorCode, after } = ending ?? outcomes.get(entry.id) ?? { outcome: "unknown" };
    return { ...entry, outcome, errorCode, after };
  });
}

/** Returns the entry as customers see it, without the operator's identity and input. */
function toApiEntry(entry: EndedEntry): AuditEntry {
  const { id, createdAt, action, actor, outcome } = entry;
  if (actor.type === "operator") return { id, createdAt, action, actor: { type: "operator" }, outcome };
  const { subject, sourceAddress, requestId, errorCode, before, after } = entry;
  return {
    id,
    createdAt,
    actor,
    action,
    subject,
    sourceAddress,
    requestId,
    outcome,
    errorCode,
    before,
    after,
  };
}
