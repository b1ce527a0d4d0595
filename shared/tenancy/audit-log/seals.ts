import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, hourMs, now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { auditLogOf } from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { queryItems } from "../../platform/table/read.ts";
import { insertOf, putItem } from "../../platform/table/write.ts";

/*
 * The seals of the audit logs. A seal has the digests of the next entries with their outcomes, and the hash of the seal before.
 * So a later change, deletion or insertion shows. Only one function may write seals, and no one may change or delete them.
 */

/** Entries are sealed an hour after they are written, and those without an outcome after a day. */
const restMs = hourMs;
const patienceMs = dayMs;

/** The most entries in a seal: about 50 KB. */
const maxSealed = 500;

export const SealRecord = z.object({
  entity: z.literal("seal"),
  /** From 1, without gaps. */
  seq: z.int(),
  entries: z.array(z.object({ id: z.string(), digest: z.string() })),
  /** The hash of the entries and of the hash of the seal before. */
  hash: z.string(),
});
type Seal = z.infer<typeof SealRecord>;

/** An entry or an outcome, as it is stored. */
const Stored = z.looseObject({ id: z.string() });
type Stored = z.infer<typeof Stored>;

/**
 * Seals what is new in a log. A concurrent call seals the same, or ends without effect.
 * @returns the number of sealed entries
 */
export async function sealAuditLog(organizationId: string | undefined): Promise<number> {
  const auditLog = auditLogOf(organizationId);
  const newest = { pk: keys.seal(auditLog, 0).pk, newestFirst: true, consistent: true };
  let [last] = await queryItems(SealRecord, { ...newest, limit: 1 });
  const until = firstIdAt("aud", new Date(now().getTime() - restMs));
  const young = firstIdAt("aud", new Date(now().getTime() - patienceMs));
  let sealed = 0;
  for (;;) {
    const found = await readEntries(auditLog, last?.entries.at(-1)?.id, until);
    const open = found.findIndex(({ id, isEnded }) => !isEnded && id > young);
    const entries = found.slice(0, open < 0 ? undefined : open).map(({ id, digest }) => ({ id, digest }));
    if (entries.length === 0) return sealed;
    const next: Seal = { entity: "seal", seq: (last?.seq ?? 0) + 1, entries, hash: hashOf(last, entries) };
    const { applied } = await putItem(insertOf(keys.seal(auditLog, next.seq), next));
    if (!applied) return sealed;
    // A copy outside of the table.
    log.info("audit_log.sealed", { organizationId: auditLog, seq: next.seq, hash: next.hash });
    sealed += entries.length;
    last = next;
  }
}

/** The first place of a log that is not as it was sealed. */
export interface Difference {
  /** The entry, or the number of the seal. */
  readonly at: number | string;
  readonly is: "added" | "changed" | "missing" | "not sealed";
}

/** Compares a log with its seals. @returns also the number of sealed entries */
export async function verifyAuditLog(
  organizationId: string | undefined,
): Promise<{ readonly entries: number; readonly difference: Difference | undefined }> {
  const auditLog = auditLogOf(organizationId);
  let last: Seal | undefined;
  let entries = 0;
  const different = (at: number | string, is: Difference["is"]) => ({ entries, difference: { at, is } });
  for await (const seal of itemsIn(SealRecord, { pk: keys.seal(auditLog, 0).pk, consistent: true }, 20)) {
    const seq = (last?.seq ?? 0) + 1;
    if (seal.seq !== seq) return different(seq, "missing");
    if (seal.hash !== hashOf(last, seal.entries)) return different(seq, "changed");
    const found = await readEntries(auditLog, last?.entries.at(-1)?.id, `${seal.entries.at(-1)?.id}~`);
    for (const [index, { id, digest }] of seal.entries.entries()) {
      const entry = found[index];
      if (entry === undefined || entry.id > id) return different(id, "missing");
      if (entry.id < id) return different(entry.id, "added");
      if (entry.digest !== digest) return different(id, "changed");
    }
    entries += seal.entries.length;
    last = seal;
  }
  const old = firstIdAt("aud", new Date(now().getTime() - 2 * patienceMs));
  const [unsealed] = await readEntries(auditLog, last?.entries.at(-1)?.id, old);
  return unsealed === undefined ? { entries, difference: undefined } : different(unsealed.id, "not sealed");
}

/** Reads the entries after one and before another, with the digest of each and of its outcome. */
async function readEntries(auditLog: string, after: string | undefined, before: string) {
  const from = `${after ?? ""}!`;
  // DynamoDB rejects a range whose end is before its beginning.
  if (from >= before) return [];
  const range = { from, to: before, limit: maxSealed, consistent: true };
  const entries = await queryItems(Stored, { pk: keys.auditEntry(auditLog, "").pk, ...range });
  const to = entries.at(-1)?.id;
  if (to === undefined) return [];
  const { pk } = keys.auditOutcome(auditLog, "");
  const outcomes = new Map<string, Stored>();
  for (const outcome of await queryItems(Stored, { pk, ...range, to })) outcomes.set(outcome.id, outcome);
  return entries.map((entry) => {
    const outcome = outcomes.get(entry.id);
    const digest = sha256(JSON.stringify(inOrder([entry, outcome ?? null])));
    return { id: entry.id, digest, isEnded: outcome !== undefined || entry["ending"] !== undefined };
  });
}

function hashOf(last: Seal | undefined, entries: Seal["entries"]): string {
  return sha256(JSON.stringify([last?.hash ?? null, entries.map(({ id, digest }) => [id, digest])]));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns a value whose JSON does not depend on the order of fields, which DynamoDB does not keep. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return fields.map(([name, of]) => [name, inOrder(of)]);
}
