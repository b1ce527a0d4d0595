import { randomUUID } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { Requirements } from "../../shared/platform/table/expressions.ts";
import type { Key } from "../../shared/platform/table/keys.ts";
import {
  acquireLease,
  hasLease,
  isFree,
  leaseFields,
  newLease,
  releaseLease,
  renewedLease,
  renewLease,
  whileFree,
  whileLeasedBy,
  type Lease,
} from "../../shared/platform/table/lease.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { type Outcome, putItem, updateItem, updateOf, putOf } from "../../shared/platform/table/write.ts";
import { interceptTableRequests } from "../support/table-requests.ts";

const ItemRecord = z.object({ entity: z.literal("item"), state: z.optional(z.string()), ...leaseFields });
type ItemRecord = z.infer<typeof ItemRecord>;

declare module "../../shared/platform/table/entities.ts" {
  interface Entities {
    leasedByTests: typeof ItemRecord;
  }
}

const start = new Date("2030-06-01T12:00:00.000Z");
const durationMs = 60_000;

let key: Key<"leasedByTests">;
beforeEach(async () => {
  key = { pk: `SANDBOX#${randomUUID()}`, sk: "SANDBOX" };
  await putItem(putOf(key, { entity: "item" }));
});

function after(ms: number): Date {
  return new Date(start.getTime() + ms);
}

async function acquire(at: Date, requires: Requirements<"leasedByTests"> = {}): Promise<Outcome<ItemRecord>> {
  const lease = newLease(at, durationMs);
  return updateItem(ItemRecord, acquireLease(key, lease, at, { requires }), { isOwn: hasLease(lease) });
}

async function held(at: Date): Promise<ItemRecord> {
  const acquired = await acquire(at);
  if (!acquired.applied) throw new Error("the lease is not free");
  return acquired.item;
}

async function renew(holder: ItemRecord, at: Date, lease: Lease = renewedLease(holder, at, durationMs)) {
  return updateItem(ItemRecord, renewLease(key, lease, at), { isOwn: hasLease(lease) });
}

async function release(holder: ItemRecord, until?: Date): Promise<boolean> {
  return (await updateItem(ItemRecord, releaseLease(key, holder, { until }))).applied;
}

/** Sends the next request twice, as the client does when the first response is lost. */
function loseNextResponse(): void {
  vi.restoreAllMocks();
  let isLost = false;
  interceptTableRequests(async (_command, send) => {
    if (!isLost) await send();
    isLost = true;
    return send();
  });
}

it("one of many workers at the same time acquires the lease", async () => {
  const outcomes = await Promise.all(Array.from({ length: 20 }, async () => acquire(start)));
  expect(outcomes.filter(({ applied }) => applied)).toHaveLength(1);
});

it("is held before its end, and lapses at that moment, for the item and for the condition alike", async () => {
  const holder = await held(start);
  expect(isFree(holder, after(durationMs - 1))).toBe(false);
  expect((await acquire(after(durationMs - 1))).applied).toBe(false);
  expect(isFree(holder, after(durationMs))).toBe(true);
  const next = await held(after(durationMs));
  expect(next.leaseToken).not.toBe(holder.leaseToken);
});

it("a worker with a slow clock does not acquire another's lease, and one with a fast clock does early", async () => {
  await held(start);
  expect((await acquire(after(-durationMs))).applied).toBe(false);
  expect((await acquire(after(2 * durationMs))).applied).toBe(true);
});

it("a holder whose response was lost recognizes its lease, and no other worker does", async () => {
  loseNextResponse();
  const holder = await held(start);
  expect(await findItem(ItemRecord, key, { consistent: true })).toEqual(holder);
  loseNextResponse();
  expect((await acquire(start)).applied).toBe(false);
});

it("is renewed while it is held, and the holder recognizes that too", async () => {
  const holder = await held(start);
  loseNextResponse();
  const renewed = await renew(holder, after(durationMs - 1));
  expect(renewed).toMatchObject({ applied: true, item: { leaseToken: holder.leaseToken } });
  expect((await acquire(after(durationMs))).applied).toBe(false);
  expect((await acquire(after(2 * durationMs - 1))).applied).toBe(true);
});

it("cannot be renewed from the moment at which it lapses, whether or not another worker has acquired it", async () => {
  const holder = await held(start);
  expect((await renew(holder, after(durationMs))).applied).toBe(false);
  expect((await renew(holder, after(3 * durationMs))).applied).toBe(false);
  await held(after(durationMs));
  // By the clock of a worker that does not know about it yet.
  expect((await renew(holder, after(1))).applied).toBe(false);
});

it("a holder writes until another worker has acquired the lapsed lease, and not from then on", async () => {
  const write = async (holder: ItemRecord, state: string): Promise<boolean> =>
    (await updateItem(ItemRecord, updateOf(key, { set: { state } }, whileLeasedBy(holder)))).applied;
  const holder = await held(start);
  expect(await write(holder, "late")).toBe(true);
  const next = await held(after(durationMs));
  expect(await write(holder, "too late")).toBe(false);
  expect(await release(holder)).toBe(false);
  expect(await write(next, "done")).toBe(true);
  expect(await findItem(ItemRecord, key, { consistent: true })).toEqual({ ...next, state: "done" });
});

it("leaves nothing in the item when it is released, and is free", async () => {
  expect(await release(await held(start))).toBe(true);
  expect(await findItem(ItemRecord, key, { consistent: true })).toEqual({ entity: "item" });
  expect((await acquire(start)).applied).toBe(true);
});

it("a deferred item cannot be acquired before its time, nor renewed", async () => {
  const holder = await held(start);
  expect(await release(holder, after(2 * durationMs))).toBe(true);
  const deferred = await findItem(ItemRecord, key, { consistent: true });
  expect(deferred).toEqual({ entity: "item", leaseUntil: after(2 * durationMs).toISOString() });
  expect((await renew(holder, after(1))).applied).toBe(false);
  expect((await acquire(after(2 * durationMs - 1))).applied).toBe(false);
  expect((await acquire(after(2 * durationMs))).applied).toBe(true);
});

it("is not acquired where another required condition is false", async () => {
  expect(
    (await acquire(start, { anyOf: [{ is: { state: "open" } }, { is: { state: "late" } }] })).applied,
  ).toBe(false);
  expect((await acquire(start, { absent: ["state"] })).applied).toBe(true);
});

it("a condition with an alternative does not bypass the lease", async () => {
  await held(start);
  const requires = { anyOf: [{ present: ["pk"] }, { present: ["sk"] }] } as const;
  expect((await acquire(start, requires)).applied).toBe(false);
  const write = updateOf(key, { set: { state: "open" } }, whileFree(start, requires));
  expect((await updateItem(ItemRecord, write)).applied).toBe(false);
});
