import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, hourMs, now } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { auditLogOf, writeAuditEntry, type AuditEntryRecord } from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn, rowsOf } from "../../platform/table/lists.ts";
import { queryItems } from "../../platform/table/read.ts";
import { insertOf, putItem } from "../../platform/table/write.ts";

/*
 * The seals of the audit logs. A seal has the digests of the next entries with their outcomes, and the hash of the seal before.
 * So a later change, deletion or insertion shows. Only one function may write seals, and no one may change or delete them.
 */

/** Entries are sealed an hour after they are written, and those without an outcome after a day. */
export const restMs = hourMs;
export const patienceMs = dayMs;

/** The most entries in a seal: about 10 KB, or 110 KB with the longest sort keys. */
const maxSealed = 100;

/** The most differences of each kind that are listed, so that none hides those of another kind. */
const maxListed = 50;

export const SealRecord = z.object({
  entity: z.literal("seal"),
  /** From 1, without gaps. */
  seq: z.int(),
  entries: z.array(z.object({ id: z.string(), digest: z.string() })),
  /** The hash of the entries and of the hash of the seal before. */
  hash: z.string(),
});
type Seal = z.infer<typeof SealRecord>;

/** An entry or an outcome, as it is stored. Its other fields may be of any kind, also its ID. */
const Stored = z.looseObject({ sk: z.string() });
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

/** A place where a log is not as it was sealed. */
export interface Difference {
  /** The sort key of the entry, or the number of the seal. */
  readonly at: number | string;
  /** With a late outcome, the entry is as it was sealed, and had no outcome then. */
  readonly is: "added" | "changed" | "late outcome" | "missing" | "not sealed" | "unreadable";
}

/** Compares a log with its seals. @returns also the number of sealed entries */
export async function verifyAuditLog(
  organizationId: string | undefined,
): Promise<{ readonly entries: number; readonly differences: readonly Difference[] }> {
  const auditLog = auditLogOf(organizationId);
  /** With the present digest of an entry, if a sealed notice can explain the difference. */
  const found: (Difference & { readonly digest: string | undefined })[] = [];
  const add = (at: number | string, is: Difference["is"], digest?: string): void =>
    void found.push({ at, is, digest });
  const notices = new Set<string>();
  let last: Seal | undefined;
  let after: string | undefined;
  let entries = 0;
  const seals = { pk: keys.seal(auditLog, 0).pk, consistent: true };
  for await (const { key, item: seal } of rowsOf(SealRecord, seals, 20)) {
    if (seal === undefined) {
      add(key.sk, "unreadable");
      continue;
    }
    const seq = (last?.seq ?? 0) + 1;
    const isNext = seal.seq === seq;
    if (!isNext) add(seq, "missing");
    else if (seal.hash !== hashOf(last, seal.entries)) add(seq, "changed");
    const sealed = new Map(seal.entries.map(({ id, digest }) => [id, digest]));
    for await (const each of allEntries(auditLog, after, seal.entries.at(-1)?.id)) {
      const { id, digest, withoutOutcome, notice } = each;
      const expected = sealed.get(id);
      sealed.delete(id);
      if (expected === digest) {
        if (notice !== undefined) notices.add(textOf(notice));
      } else if (expected === undefined) {
        // The entries of a missing seal are before those of the next one.
        if (isNext) add(id, "added", digest);
        else add(id, "not sealed");
      } else if (expected === withoutOutcome) add(id, "late outcome", digest);
      else add(id, "changed");
    }
    for (const id of sealed.keys()) add(id, "missing");
    entries += seal.entries.length;
    after = seal.entries.at(-1)?.id ?? after;
    last = seal;
  }
  const old = firstIdAt("aud", new Date(now().getTime() - 2 * patienceMs));
  const next = firstIdAt("aud", new Date(now().getTime() + patienceMs));
  // A sort key that is after all times is never sealed.
  for await (const { id } of allEntries(auditLog, after, "\u{10FFFF}"))
    if (id <= old || id > next) add(id, "not sealed");
  const differences: Difference[] = [];
  for (const { at, is, digest } of found) {
    const isExplained = digest !== undefined && notices.has(textOf({ id: String(at), digest }));
    const isListed = differences.filter((each) => each.is === is).length < maxListed;
    if (!isExplained && isListed) differences.push({ at, is });
  }
  return { entries, differences };
}

/** The action of an entry about another one that came late: its ID and the digest that it has. */
const noticeAction = "late audit entry";
const NoticeOfLate = z.object({
  action: z.literal(noticeAction),
  subject: z.object({ id: z.string(), digest: z.string() }),
});
type NoticeOfLate = z.infer<typeof NoticeOfLate>["subject"];

/** Returns the digest of an entry with its outcome, as they are stored; undefined if there is no entry. */
export async function digestOfStored(
  organizationId: string | undefined,
  id: string,
): Promise<string | undefined> {
  const ofSameStart = await readEntries(auditLogOf(organizationId), id.slice(0, -1), id);
  return ofSameStart.find((each) => each.id === id)?.digest;
}

/**
 * Adds an entry with the digest of a late one, which the seals may have passed. The next seal has both by that.
 * @param actor who sent the late entry
 */
export async function noticeLateEntry({ id, organizationId, actor }: AuditEntryRecord): Promise<void> {
  const subject: NoticeOfLate = { id, digest: (await digestOfStored(organizationId, id)) ?? "" };
  await writeAuditEntry({
    organizationId,
    actor,
    action: noticeAction,
    subject,
    ending: { outcome: "done" },
  });
}

function textOf({ id, digest }: NoticeOfLate): string {
  return `${id} ${digest}`;
}

/** Yields the entries after one and up to another. */
async function* allEntries(auditLog: string, after: string | undefined, to = "") {
  for (let last = after; ;) {
    const batch = await readEntries(auditLog, last, to);
    yield* batch;
    if (batch.length < maxSealed) return;
    last = batch.at(-1)?.id;
  }
}

/** Reads the first entries after one and up to another. Any role could write an ID that differs from the sort key. */
async function readEntries(auditLog: string, after: string | undefined, to: string) {
  // DynamoDB rejects a range whose end is before its beginning.
  if ((after ?? " ") >= to) return [];
  const range = { after, to, consistent: true };
  const ofEntries = { ...range, pk: keys.auditEntry(auditLog, "").pk, limit: maxSealed };
  const entries = await queryItems(Stored, ofEntries);
  const outcomes = new Map<string, Stored | undefined>(entries.map(({ sk }) => [sk, undefined]));
  const ofOutcomes = { ...range, pk: keys.auditOutcome(auditLog, "").pk, to: entries.at(-1)?.sk ?? "" };
  // Outcomes without an entry must not displace others.
  for await (const outcome of entries.length === 0 ? [] : itemsIn(Stored, ofOutcomes, maxSealed)) {
    if (outcomes.has(outcome.sk)) outcomes.set(outcome.sk, outcome);
  }
  return entries.map((entry) => {
    const outcome = outcomes.get(entry.sk);
    const [digest, withoutOutcome] = [digestOf(entry, outcome), digestOf(entry, undefined)];
    const isEnded = outcome !== undefined || entry["ending"] !== undefined;
    const notice = NoticeOfLate.safeParse(entry).data?.subject;
    return { id: entry.sk, digest, withoutOutcome, isEnded, notice };
  });
}

function digestOf(entry: Stored, outcome: Stored | undefined): string {
  return sha256(JSON.stringify(inOrder([entry, outcome ?? null])));
}

function hashOf(last: Seal | undefined, entries: Seal["entries"]): string {
  return sha256(JSON.stringify([last?.hash ?? null, entries.map(({ id, digest }) => [id, digest])]));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns a value whose JSON has the kinds of values, and not the order of fields and sets, which DynamoDB does not keep. */
function inOrder(value: unknown): unknown {
  if (typeof value === "bigint") return [`${value}`];
  if (typeof value !== "object" || value === null) return value;
  const members =
    value instanceof Set ? [...value].map((each) => JSON.stringify(inOrder(each))).toSorted() : value;
  const fields = Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [Object.prototype.toString.call(value), fields.map(([name, of]) => [name, inOrder(of)])];
}
