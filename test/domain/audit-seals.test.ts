import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { sealAuditLogs } from "../../shared/accounts/audit-logs.ts";
import { dayMs, hourMs } from "../../shared/platform/clock.ts";
import { writeAuditEntry, writeAuditOutcome } from "../../shared/platform/table/audit-log.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { sealAuditLog, verifyAuditLog } from "../../shared/tenancy/audit-log/seals.ts";
import { damage } from "../support/items.ts";
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

async function difference(): Promise<unknown> {
  return (await verifyAuditLog(organizationId)).difference;
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
  expect(await verifyAuditLog(organizationId)).toEqual({ entries: 2, difference: undefined });
});

it("waits a day for an outcome, and seals the entries after it later", async () => {
  await write({ isEnded: false });
  await write();
  later(2 * hourMs);
  expect(await sealAuditLog(organizationId)).toBe(0);
  later(dayMs);
  expect(await sealAuditLog(organizationId)).toBe(2);
  expect(await difference()).toBeUndefined();
});

it("seals many entries of a release without seals, and names one that is not sealed after two days", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 501; count += 1) ids.push(await write());
  later(3 * dayMs);
  expect(await difference()).toEqual({ at: ids[0], is: "not sealed" });
  expect(await sealAuditLog(organizationId)).toBe(501);
  expect(await verifyAuditLog(organizationId)).toEqual({ entries: 501, difference: undefined });
  // The seals themselves are a chain.
  await deleteItem(keys.seal(organizationId, 2));
  expect(await difference()).toEqual({ at: ids[500], is: "not sealed" });
  await damage(keys.seal(organizationId, 1), { hash: "0" });
  expect(await difference()).toEqual({ at: 1, is: "changed" });
  await deleteItem(keys.seal(organizationId, 1));
  await putItem(
    putUnchecked(keys.seal(organizationId, 2), { entity: "seal", seq: 2, entries: [], hash: "" }),
  );
  expect(await difference()).toEqual({ at: 1, is: "missing" });
});

it.each([
  [
    "changed",
    async (id: string): Promise<void> =>
      damage(keys.auditEntry(organizationId, id), { action: "wallets debit" }),
  ],
  [
    "changed",
    async (id: string): Promise<void> =>
      damage(keys.auditOutcome(organizationId, id), { outcome: "refused" }),
  ],
  [
    "changed",
    async (id: string): Promise<void> => void (await deleteItem(keys.auditOutcome(organizationId, id))),
  ],
  [
    "missing",
    async (id: string): Promise<void> => void (await deleteItem(keys.auditEntry(organizationId, id))),
  ],
] as const)("finds the first entry that is %s", async (is, change) => {
  const ids = [await write(), await write(), await write()];
  later(2 * hourMs);
  await sealAuditLog(organizationId);
  expect(await difference()).toBeUndefined();
  await change(ids[1] ?? "");
  expect(await difference()).toEqual({ at: ids[1], is });
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
  expect(await difference()).toEqual({ at: inserted, is: "added" });
});
