import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/contract/errors.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import type { RateLimit } from "../../shared/platform/limits/rate-limit.ts";
import { consume, refund } from "../../shared/platform/limits/sliding-window.ts";

const limit: RateLimit = { name: "test", max: 5, windowMs: 15 * minuteMs };
// The end of a quarter of an hour is a second away.
const start = new Date("2030-06-01T12:14:59Z");

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterEach(() => void vi.useRealTimers());

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Tries at once. @returns how many were let through, and what each of the others was told to wait, in seconds */
async function tryTimes(count: number, whom: string): Promise<{ passed: number; waits: number[] }> {
  const results = await Promise.allSettled(Array.from({ length: count }, async () => consume(limit, whom)));
  const waits = results.flatMap((result) => {
    if (result.status === "fulfilled") return [];
    if (!(result.reason instanceof ApiError)) throw result.reason;
    expect(result.reason.code).toBe("RATE_LIMITED");
    return [result.reason.facts.retryAfterSeconds ?? 0];
  });
  return { passed: count - waits.length, waits };
}

it("a quarter of an hour that ends gives no tries again that lie a second back", async () => {
  const whom = randomUUID();
  expect(await tryTimes(limit.max, whom)).toEqual({ passed: limit.max, waits: [] });
  advance(2 * secondMs);
  expect(await tryTimes(1, whom)).toEqual({ passed: 0, waits: [15 * 60 - 2] });
});

it("each try makes room again when its own time is over, and the answer says when that is", async () => {
  const whom = randomUUID();
  await tryTimes(1, whom);
  advance(minuteMs);
  await tryTimes(limit.max - 1, whom);
  advance(limit.windowMs - minuteMs - 1);
  expect(await tryTimes(1, whom)).toEqual({ passed: 0, waits: [1] });
  advance(1);
  expect(await tryTimes(3, whom)).toEqual({ passed: 1, waits: [60, 60] });
  advance(60 * secondMs);
  expect((await tryTimes(10, whom)).passed).toBe(limit.max - 1);
});

it("no stretch as long as the window has more than the limit, whenever the tries come", async () => {
  const whom = randomUUID();
  const passedAt: number[] = [];
  // Steps that fit into the window neither evenly nor in equal numbers.
  for (let step = 0; step < 60; step += 1) {
    if ((await tryTimes(1, whom)).passed === 1) passedAt.push(Date.now());
    advance(((step * 37) % 11) * 20 * secondMs);
  }
  const beforeThem = passedAt.slice(0, -limit.max);
  expect(beforeThem.length).toBeGreaterThan(limit.max);
  for (const [index, time] of beforeThem.entries()) {
    expect((passedAt[index + limit.max] ?? 0) - time).toBeGreaterThanOrEqual(limit.windowMs);
  }
});

describe("of many tries at once", () => {
  it("exactly as many pass as there is room for, and the others are told to wait", async () => {
    const whom = randomUUID();
    expect((await tryTimes(50, whom)).passed).toBe(limit.max);
    expect((await tryTimes(50, whom)).passed).toBe(0);
  });

  it("the same holds when room has to be made", async () => {
    const whom = randomUUID();
    await tryTimes(2, whom);
    advance(minuteMs);
    await tryTimes(limit.max, whom);
    advance(limit.windowMs - minuteMs);
    expect((await tryTimes(50, whom)).passed).toBe(2);
  });
});

it("a try that is taken back makes room for one, and is not taken back twice", async () => {
  const whom = randomUUID();
  const counted = await consume(limit, whom);
  await tryTimes(limit.max - 1, whom);
  await refund(counted);
  await refund(counted);
  expect((await tryTimes(3, whom)).passed).toBe(1);
});

it("no one is kept waiting for another's tries, or for those at something else", async () => {
  const whom = randomUUID();
  await tryTimes(limit.max, whom);
  expect((await tryTimes(1, randomUUID())).passed).toBe(1);
  await expect(consume({ ...limit, name: "another test" }, whom)).resolves.toBeDefined();
});
