import { NumberValueImpl as NumberValue } from "@aws-sdk/util-dynamodb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { sealAuditLogs } from "../../shared/accounts/audit-logs.ts";
import { dayMs, hourMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { writeAuditEntry, writeAuditOutcome, type Ending } from "../../shared/platform/table/audit-log.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { writeOperatorEntry } from "../../shared/tenancy/audit-log/operator-entries.ts";
import { sealAuditLog, verifyAuditLog } from "../../shared/tenancy/audit-log/seals.ts";
import { damage } from "../support/items.ts";
import { recordLog } from "../support/log.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * The seals of audit logs: what was sealed cannot be changed without a trace, and what is not complete is not sealed.
 */

let organizationId: string;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  organizationId = await openWallet(0);
});
afterEach(() => {
  vi.useRealTimers();
});

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Writes an entry, and by default its outcome. @returns the id */
async function write({ isEnded = true } = {}): Promise<string> {
  later(1);
  const actor = { type: "operator", identity: "ada" } as const;
  const entry = await writeAuditEntry({
    organizationId,
    actor,
    action: "wallets credit",
    before: { b: 1, a: [2] },
  });
  if (isEnded) await writeAuditOutcome(entry, { outcome: "done" });
  return entry.id;
}

/** Writes an item as any role could. */
async function writeItem(key: Key, fields: Readonly<Record<string, unknown>>): Promise<void> {
  await putItem(putUnchecked(key, fields));
}

async function differences(): Promise<unknown> {
  return (await verifyAuditLog(organizationId)).differences;
}

it("seals each entry once, an hour after it was written, also if two calls meet", async () => {
  await write();
  expect(await sealAuditLog(organizationId)).toBe(0);
  later(hourMs);
  await write();
  expect(await sealAuditLogs()).toBe(1);
  expect(await sealAuditLogs()).toBe(0);
  later(2 * hourMs);
  const [one, other] = await Promise.all([sealAuditLog(organizationId), sealAuditLog(organizationId)]);
  expect(one + other).toBe(1);
  expect(await verifyAuditLog(organizationId)).toEqual({ entries: 2, differences: [] });
});

it("an operator's entry that came after its seals is no difference, and its later change is one", async () => {
  const id = newId("aud");
  await write();
  later(3 * hourMs);
  await sealAuditLog(organizationId);
  const job = { id, event: { organizationId, action: "wallets debit" }, claimedArn: "arn" };
  const writeJob = async (ending?: Ending) => writeOperatorEntry({ ...job, ending }, "AIDA:bob", new Date());
  // The job of the outcome is parked too, and each is repeated.
  for (const ending of [undefined, undefined, { outcome: "done" }, { outcome: "done" }] as const) {
    await writeJob(ending);
    later(3 * hourMs);
    await sealAuditLog(organizationId);
  }
  expect(await differences()).toEqual([]);
  await damage(keys.auditEntry(organizationId, id), { action: "wallets credit" });
  expect(await differences()).toEqual([{ at: id, is: "added" }]);
});

it("the outcome of a command that took hours needs no notice", async () => {
  const id = newId("aud");
  const job = { id, event: { organizationId, action: "wallets verify" }, claimedArn: "arn" };
  await writeOperatorEntry(job, "AIDA:bob", new Date());
  later(3 * hourMs);
  await sealAuditLog(organizationId);
  await writeOperatorEntry({ ...job, ending: { outcome: "done" } }, "AIDA:bob", new Date());
  later(2 * hourMs);
  expect(await sealAuditLog(organizationId)).toBe(1);
  expect(await differences()).toEqual([]);
});

it("an outcome that came after its entry was sealed is no difference if its job sent it", async () => {
  const id = newId("aud");
  const job = { id, event: { organizationId, action: "wallets debit" }, claimedArn: "arn" };
  await writeOperatorEntry(job, "AIDA:bob", new Date());
  later(2 * dayMs);
  expect(await sealAuditLog(organizationId)).toBe(1);
  await writeOperatorEntry({ ...job, ending: { outcome: "done" } }, "AIDA:bob", new Date());
  expect(await differences()).toEqual([{ at: id, is: "late outcome" }]);
  later(2 * hourMs);
  await sealAuditLog(organizationId);
  expect(await differences()).toEqual([]);
});

it("waits a day for an outcome, and seals the entries after it later", async () => {
  await write({ isEnded: false });
  await write();
  later(2 * hourMs);
  expect(await sealAuditLog(organizationId)).toBe(0);
  later(dayMs);
  expect(await sealAuditLog(organizationId)).toBe(2);
  expect(await differences()).toEqual([]);
});

it("seals many entries of a release without seals, and names those that are not sealed after two days", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 101; count += 1) ids.push(await write());
  later(3 * dayMs);
  const unsealed = ids.map((at) => ({ at, is: "not sealed" }));
  expect(await differences()).toEqual(unsealed.slice(0, 50));
  expect(await sealAuditLog(organizationId)).toBe(101);
  expect(await verifyAuditLog(organizationId)).toEqual({ entries: 101, differences: [] });
  // The seals themselves are a chain.
  await damage(keys.seal(organizationId, 1), { hash: "0" });
  expect(await differences()).toEqual([1, 2].map((at) => ({ at, is: "changed" })));
  await deleteItem(keys.seal(organizationId, 1));
  expect(await differences()).toEqual([{ at: 1, is: "missing" }, ...unsealed.slice(0, 50)]);
  await damage(keys.seal(organizationId, 2), { entries: [] });
  expect(await differences()).toEqual([{ at: 1, is: "missing" }, ...unsealed.slice(0, 50)]);
});

it("finds each change of a log, also after others", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await write({ isEnded: count !== 4 }));
  later(2 * dayMs);
  await sealAuditLog(organizationId);
  expect(await differences()).toEqual([]);
  const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = ids;
  // As many as one seal has, and more than are listed.
  const added = Array.from({ length: 120 }, (_, count) => `${first}${100 + count}`);
  for (const id of added) await writeItem(keys.auditEntry(organizationId, id), { id });
  await damage(keys.auditEntry(organizationId, second), { action: "wallets debit" });
  await damage(keys.auditOutcome(organizationId, third), { outcome: "refused" });
  await deleteItem(keys.auditEntry(organizationId, fourth));
  await writeAuditOutcome({ id: fifth, organizationId }, { outcome: "done" });
  await deleteItem(keys.auditOutcome(organizationId, sixth));
  expect(await differences()).toEqual([
    ...added.slice(0, 50).map((at) => ({ at, is: "added" })),
    { at: second, is: "changed" },
    { at: third, is: "changed" },
    { at: fifth, is: "late outcome" },
    { at: sixth, is: "changed" },
    { at: fourth, is: "missing" },
  ]);
});

it.each([
  [
    [
      ["a", [2]],
      ["b", 1],
    ],
  ],
  [{ a: { 0: 2 }, b: 1 }],
])("distinguishes lists from objects: %j", async (before) => {
  const id = await write();
  later(2 * hourMs);
  await sealAuditLog(organizationId);
  await damage(keys.auditEntry(organizationId, id), { before });
  expect(await differences()).toEqual([{ at: id, is: "changed" }]);
});

it.each(["zzz", "a", 5, undefined])("seals what follows an entry whose own ID is %s", async (id) => {
  const sk = await write();
  await writeItem(keys.auditEntry(organizationId, sk), { id, ending: { outcome: "done" } });
  later(2 * hourMs);
  expect(await sealAuditLog(organizationId)).toBe(1);
  const next = await write();
  later(2 * dayMs);
  expect(await sealAuditLog(organizationId)).toBe(1);
  await damage(keys.auditEntry(organizationId, next), { action: "wallets debit" });
  await damage(keys.auditEntry(organizationId, sk), { id: sk });
  expect(await differences()).toEqual([sk, next].map((at) => ({ at, is: "changed" })));
});

it("seals entries with any content, the longest sort keys, and outcomes of no entry", async () => {
  const first = await write();
  const content = { big: 2n ** 70n, bigger: new NumberValue("9007199254740993.5"), constructor: null };
  await damage(keys.auditEntry(organizationId, first), { ...content, ending: new Set([2, 1]) });
  for (let count = 0; count < 450; count += 1) {
    const sk = `${first}${count}`.padEnd(1_000, "x");
    await writeItem(keys.auditEntry(organizationId, sk), { ending: { outcome: "done" } });
    await writeItem(keys.auditOutcome(organizationId, `${first}y${count}`), {});
  }
  const last = await write();
  later(2 * hourMs);
  expect(await sealAuditLog(organizationId)).toBe(452);
  await damage(keys.auditOutcome(organizationId, last), { outcome: "refused" });
  await damage(keys.auditEntry(organizationId, first), { ending: new Set([1, 3]) });
  await writeItem(keys.auditEntry(organizationId, "zzz"), {});
  expect(await differences()).toEqual([
    { at: first, is: "changed" },
    { at: last, is: "changed" },
    { at: "zzz", is: "not sealed" },
  ]);
});

it("seals all other logs if one cannot be sealed, and fails", async () => {
  const unsealable = organizationId;
  await write();
  later(2 * hourMs);
  await sealAuditLog(unsealable);
  await damage(keys.seal(unsealable, 1), { hash: 0 });
  organizationId = await openWallet(0);
  await write();
  later(2 * hourMs);
  const recorded = recordLog();
  await expect(sealAuditLogs()).rejects.toThrow("1 audit logs were not sealed");
  expect(recorded.of("audit_log.not_sealed")).toMatchObject([{ organizationId: unsealable }]);
  vi.restoreAllMocks();
  expect(await verifyAuditLog(organizationId)).toEqual({ entries: 1, differences: [] });
  expect(await verifyAuditLog(unsealable)).toMatchObject({ differences: [{ is: "unreadable" }] });
  await deleteItem(keys.seal(unsealable, 1));
});

it("finds an entry that is inserted between sealed ones", async () => {
  await write();
  later(1);
  const at = Date.now();
  later(1);
  await write();
  later(2 * hourMs);
  await sealAuditLog(organizationId);
  vi.setSystemTime(at - 1);
  const inserted = await write();
  later(dayMs);
  expect(await differences()).toEqual([{ at: inserted, is: "added" }]);
});
