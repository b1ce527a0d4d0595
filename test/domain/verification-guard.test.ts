import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, queryRows } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { saveProfile } from "../../shared/verifications/change-profiles.ts";
import { eraseVerificationsOf } from "../../shared/verifications/erase.ts";
import {
  readBlockedRanges,
  readConversion,
  unblockRange,
} from "../../shared/verifications/guard/conversion.ts";
import {
  guardStart,
  noteApproved,
  noteUndelivered,
  type GuardDecision,
  type GuardedStart,
} from "../../shared/verifications/guard/guard.ts";
import { Conversion, markOf, RecentStarts } from "../../shared/verifications/guard/rules.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { recordLog } from "../support/log.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { apiKeyOf, setFee, startFor } from "../support/verifications.ts";
import { openOrganization } from "../support/wallets.ts";

const number = (last: number): string => `234803000${String(last).padStart(4, "0")}`;
const allowed = { outcome: "allowed" };
const blockedBy = (rule: string) => expect.objectContaining({ outcome: "blocked", rule });

let organizationId: string;

/** Returns a verification that starts now. */
function startOf(to: string, id = `ver_${to}${Date.now()}`): Parameters<typeof noteApproved>[0] {
  return { id, organizationId, to, startedAt: new Date() };
}

beforeEach(() => {
  vi.setSystemTime("2030-06-01T12:01:00Z");
  organizationId = newId("org");
});

const saved = { brand: "Shop", codeLength: 6, validitySeconds: 600, allow: [] };

/** Returns the items of the newest starts. */
async function guarded(): Promise<RecentStarts[]> {
  const range = { pk: `GUARD#${organizationId}`, limit: 100 };
  const rows = await queryRows(z.union([Conversion, RecentStarts]), range);
  return rows.flatMap(({ item }) => (item?.entity === "recentStarts" ? [item] : []));
}

function marksIn({ unapproved, approved, undelivered }: RecentStarts): string[] {
  return [...unapproved, ...approved, ...undelivered];
}

/** Starts a verification, a second after the last one. */
async function start(
  to: string,
  fields: Partial<Pick<GuardedStart, "deviceId" | "ip">> & Partial<GuardedStart["profile"]> = {},
): Promise<GuardDecision> {
  advance(secondMs);
  const { ip, deviceId, ...profile } = fields;
  const whole: GuardedStart["profile"] = { guard: "block", allow: [], ...profile };
  return guardStart({ ...startOf(to), ip, deviceId, profile: whole });
}

/** Starts some verifications one after another, of numbers of one range by default. */
async function starts(
  count: number,
  fields: Parameters<typeof start>[1] = {},
  of = number,
): Promise<unknown[]> {
  const decisions: unknown[] = [];
  for (let index = 0; index < count; index += 1) decisions.push(await start(of(index), fields));
  return decisions;
}

/** Returns a number in a range of its own. */
const elsewhere = (index: number): string => `2348${String(40_000 + index)}0001`;

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

it("a range is blocked after ten starts without an approval, until twelve hours later", async () => {
  expect(await starts(12)).toEqual([...times(10, allowed), ...times(2, blockedBy("range"))]);
  const blockedUntil = "2030-06-02T00:01:11.000Z";
  const reason = "0 of 0 approved in a day, 10 not approved in 20 minutes";
  const block = { range: "234803000", blockedUntil, reason };
  expect(await readBlockedRanges(organizationId)).toEqual([block]);
  // Neither another range, nor another organization, nor a trusted prefix.
  expect(await start(elsewhere(1))).toEqual(allowed);
  expect(await start(number(20), { allow: ["23480"] })).toEqual(allowed);
  expect(await start(number(20), { guard: "monitor" })).toEqual({ outcome: "allowed", rule: "range" });
  await unblockRange(organizationId, "234803000");
  expect(await starts(11)).toEqual([...times(10, allowed), blockedBy("range")]);
  vi.setSystemTime(Date.parse(blockedUntil) + 2 * 60_000);
  expect(await start(number(30))).toEqual(allowed);
});

it("of starts at the same moment ten are allowed in a range, and five numbers from an address", async () => {
  const together = async (ip?: string): Promise<unknown[]> => {
    const decisions = Array.from({ length: 40 }, async (_, index) => {
      const profile: GuardedStart["profile"] = { guard: "block", allow: [] };
      return guardStart({ ...startOf(number(index)), profile, ip });
    });
    const all = (await Promise.all(decisions)).filter(({ outcome }) => outcome === "allowed");
    // The others are not counted.
    expect((await guarded()).at(-1)?.unapproved.size).toBe(all.length);
    return all;
  };
  expect(await together("2001:db8::1")).toHaveLength(5);
  organizationId = newId("org");
  expect(await together()).toHaveLength(10);
});

it("a number has ten starts in a day in each mode, and a strict profile allows half", async () => {
  const once = async (guard: "block" | "monitor" | "strict"): Promise<GuardDecision> => {
    advance(hourMs);
    const decision = await start(number(1), { guard });
    if (decision.outcome === "allowed") await noteApproved(startOf(number(1)));
    return decision;
  };
  for (let count = 1; count <= 5; count += 1) expect(await once("strict")).toEqual(allowed);
  expect(await once("strict")).toEqual(blockedBy("number"));
  for (let count = 1; count <= 3; count += 1) expect(await once("block")).toEqual(allowed);
  for (let count = 1; count <= 2; count += 1) expect(await once("monitor")).toEqual(allowed);
  expect(await once("monitor")).toEqual(blockedBy("number"));
  expect(await start(number(1))).toMatchObject({ rule: "number", retryAfterSeconds: expect.any(Number) });
  expect(await start(number(2))).toEqual(allowed);
  advance(dayMs);
  expect(await start(number(1))).toEqual(allowed);
});

it("an address has five numbers and ten starts in an hour, and a device three numbers in a day", async () => {
  // All addresses of a /64 are one.
  const addresses = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9"];
  for (let index = 0; index < 5; index += 1) {
    expect(await start(elsewhere(index), { ip: addresses[index % 2] })).toEqual(allowed);
  }
  expect(await start(elsewhere(5), { ip: addresses[0] })).toMatchObject({ rule: "address" });
  for (let index = 0; index < 5; index += 1) {
    expect(await start(elsewhere(index), { ip: addresses[1] })).toEqual(allowed);
  }
  expect(await start(elsewhere(0), { ip: addresses[0] })).toMatchObject({ rule: "address" });
  expect(await start(elsewhere(5), { ip: "2001:db8:1:3::1" })).toEqual(allowed);
  advance(hourMs);
  expect(await start(elsewhere(5), { ip: addresses[0] })).toEqual(allowed);
  const device = { deviceId: "ada-phone" };
  expect(await starts(4, device, elsewhere)).toEqual([...times(3, allowed), blockedBy("device")]);
  const items = await queryRows(z.looseObject({}), { pk: `GUARD#${organizationId}`, limit: 100 });
  expect(items.length).toBeGreaterThan(10);
  expect(JSON.stringify(items)).not.toMatch(/2001|ada-phone|[0-9]{13}/i);
});

it("approved and undelivered starts are no fraud, and each counts once", async () => {
  const starting = async (index: number, after: typeof noteApproved): Promise<void> => {
    expect(await start(number(index))).toEqual(allowed);
    const verification = startOf(number(index));
    await after(verification);
    // The receipt arrives again, or contradicts the person.
    await noteUndelivered(verification);
  };
  for (let index = 0; index < 20; index += 1) await starting(index, noteApproved);
  for (let index = 20; index < 40; index += 1) await starting(index, noteUndelivered);
  const of = { started: 40, approved: 20, undelivered: 20 };
  expect(await readConversion(organizationId, 1)).toEqual({ countries: [{ country: "NG", ...of }] });
  // A busy range keeps its newest starts.
  for (let index = 40; index < 90; index += 1) await starting(index, noteApproved);
  expect((await guarded()).flatMap(marksIn).length).toBeLessThanOrEqual(50);
  advance(2 * dayMs);
  expect(await readConversion(organizationId, 1)).toEqual({ countries: [] });
});

it("in a country with far fewer approvals than usual, new ranges need an approval", async () => {
  const usual = async (count: number, approved: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      await start(elsewhere(index));
      if (index < approved) await noteApproved(startOf(elsewhere(index)));
    }
    advance(20 * minuteMs);
  };
  // A route on which half of the people get no code is no fraud.
  await usual(50, 25);
  await usual(50, 20);
  expect(await starts(2, {}, () => elsewhere(100))).toEqual(times(2, allowed));
  await usual(50, 5);
  expect(await starts(2, {}, () => elsewhere(101))).toEqual([allowed, blockedBy("country")]);
  expect(await starts(2, { allow: ["2348"] }, () => elsewhere(101))).toEqual(times(2, allowed));
  await noteApproved(startOf(elsewhere(102)));
  expect(await starts(2, {}, () => elsewhere(102))).toEqual(times(2, allowed));
  expect(await start(elsewhere(1), { countries: ["GB"] })).toMatchObject({ rule: "countries" });
});

it("a verification costs four write units, and one more for an address", async () => {
  const writes = vi.fn<() => void>();
  interceptTableRequests(async (command, send) => {
    if (command instanceof UpdateCommand) writes();
    return send();
  });
  await start(number(1));
  await noteApproved(startOf(number(1)));
  expect(writes).toHaveBeenCalledTimes(4);
  await start(number(2), { ip: "203.0.113.7" });
  expect(writes).toHaveBeenCalledTimes(7);
});

it("a guard without its counters stops no one, except by the profile's countries", async () => {
  const log = recordLog();
  interceptTableRequests(async () => Promise.reject(new Error("the table is away")));
  expect(await start(number(1))).toEqual(allowed);
  await noteApproved(startOf(number(1)));
  expect(await start(number(1), { countries: ["GB"] })).toEqual(blockedBy("countries"));
  expect(log.lines().map(({ event }) => event)).toEqual([
    "verification.guard_unavailable",
    "verification.not_counted",
  ]);
  vi.restoreAllMocks();
  // One item that cannot be read leaves the other rules.
  await starts(5, { ip: "203.0.113.7" });
  await damage(keys.recentStarts(organizationId, "RANGE#234803000"), { unapproved: 1 });
  expect(await start(number(6), { ip: "203.0.113.7" })).toEqual(blockedBy("address"));
});

it("a start that is not accepted is no fraud, and one of a test key is not counted", async () => {
  organizationId = await openOrganization(0);
  await setFee(0);
  await saveProfile(organizationId, "default", { ...saved, guard: "block" });
  recordLog();
  const failing = async (code: string): Promise<void> => {
    advance(secondMs);
    await expect(startFor(organizationId, { ip: "203.0.113.7" })).rejects.toMatchObject({ code });
  };
  for (let index = 0; index < 14; index += 1) await failing("INSUFFICIENT_BALANCE");
  interceptTableRequests(async (command, send) => {
    if (JSON.stringify(command).includes("WALLET#")) throw new ApiError("UNAVAILABLE");
    return send();
  });
  await failing("UNAVAILABLE");
  vi.restoreAllMocks();
  expect((await guarded()).flatMap(marksIn)).toEqual([]);
  await startFor(organizationId, {}, apiKeyOf(organizationId, { test: true }));
  const countries = [{ country: "US", started: 15, approved: 0, undelivered: 15 }];
  expect(await readConversion(organizationId, 1)).toEqual({ countries });
});

it("starts of a number at the same moment are one for the rules", async () => {
  organizationId = await openOrganization(1_000_000);
  await setFee(0);
  await saveProfile(organizationId, "default", { ...saved, guard: "block" });
  const pair = async (index: number): Promise<string[]> => {
    advance(secondMs);
    const both = [1, 2].map(async () => startFor(organizationId, { to: `15005551${200 + index}` }));
    return (await Promise.allSettled(both)).map(({ status }) => status);
  };
  for (let index = 0; index < 10; index += 1) expect(await pair(index)).toContain("fulfilled");
  expect(await pair(10)).toEqual(["rejected", "rejected"]);
  expect((await guarded()).map(({ unapproved }) => unapproved.size)).toEqual([10]);
});

it("a full item costs one write unit, also of a number with as many starts as a limit can allow", async () => {
  vi.stubEnv(environmentNames.verificationGuard, JSON.stringify({ startsPerNumberPerDay: 50 }));
  await starts(60, { guard: "monitor", ip: "203.0.113.7" }, () => number(1));
  expect((await guarded()).map((item) => marksIn(item).length)).toEqual([50, 50]);
  const key = keys.recentStarts(organizationId, "RANGE#234803000");
  const block = { blockedUntil: new Date().toISOString(), reason: "x".repeat(60), isStrict: true };
  await updateItem(RecentStarts, updateOf(key, { set: block }));
  const stored = await findItem(z.looseObject({}), key);
  const parts = Object.entries(stored ?? {}).flatMap(([name, value]) => [
    name,
    ...(value instanceof Set ? [...value, "set"] : [value]).map(String),
  ]);
  // Each member of a set has one byte more.
  expect(parts.reduce((size, part) => size + part.length + 1, 0)).toBeLessThan(1_024);
});

it("an erased number leaves no mark of its range, its addresses and its devices", async () => {
  await starts(2, { ip: "203.0.113.7", deviceId: "ada-phone" });
  await eraseVerificationsOf(organizationId, number(0));
  const left = markOf(startOf(number(1)));
  expect((await guarded()).map(marksIn)).toEqual([[left], [left], [left]]);
});

it("a block of a strict profile is for strict ones only, and one of another for both", async () => {
  const strict = { guard: "strict" } as const;
  expect(await starts(6, strict)).toEqual([...times(5, allowed), blockedBy("range")]);
  expect(await start(number(10), { guard: "monitor" })).toEqual(allowed);
  expect(await starts(5)).toEqual([...times(4, allowed), blockedBy("range")]);
  advance(hourMs);
  expect([await start(number(11)), await start(number(11), strict)]).toEqual(times(2, blockedBy("range")));
});

it("a stage has figures of its own", async () => {
  vi.stubEnv(environmentNames.verificationGuard, JSON.stringify({ unapprovedPerRangePer20Minutes: 2 }));
  expect(await starts(3)).toEqual([...times(2, allowed), blockedBy("range")]);
});
