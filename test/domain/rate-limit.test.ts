import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import type { RateLimit } from "../../shared/platform/limits/rate-limit.ts";
import { consume, refund } from "../../shared/platform/limits/sliding-window.ts";
import { advance } from "../support/clock.ts";

const limit: RateLimit = { name: "test", max: 5, windowMs: 15 * minuteMs };
// The end of a quarter of an hour is a second away.
const start = new Date("2030-06-01T12:14:59Z");

beforeEach(() => void vi.setSystemTime(start));

/** Makes tries in parallel. @returns the number that passed, and the wait of each of the others, in seconds */
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

it("the end of a quarter of an hour does not restore tries from a second ago", async () => {
  const whom = randomUUID();
  expect(await tryTimes(limit.max, whom)).toEqual({ passed: limit.max, waits: [] });
  advance(2 * secondMs);
  expect(await tryTimes(1, whom)).toEqual({ passed: 0, waits: [15 * 60 - 2] });
});

it("each try is restored when its own time is over, and the response states when that is", async () => {
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

it("no period as long as the window has more than the limit, at whatever times the tries come", async () => {
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

describe("of many tries at the same time", () => {
  it("exactly as many pass as the limit allows, and the others get a wait", async () => {
    const whom = randomUUID();
    expect((await tryTimes(50, whom)).passed).toBe(limit.max);
    expect((await tryTimes(50, whom)).passed).toBe(0);
  });

  it("the same holds when expired tries have to be removed", async () => {
    const whom = randomUUID();
    await tryTimes(2, whom);
    advance(minuteMs);
    await tryTimes(limit.max, whom);
    advance(limit.windowMs - minuteMs);
    expect((await tryTimes(50, whom)).passed).toBe(2);
  });
});

it("a try that is refunded allows one more, and cannot be refunded twice", async () => {
  const whom = randomUUID();
  const counted = await consume(limit, whom);
  await tryTimes(limit.max - 1, whom);
  await refund(counted);
  await refund(counted);
  expect((await tryTimes(3, whom)).passed).toBe(1);
});

it("no one has to wait because of another subject's tries, or of those at another limiter", async () => {
  const whom = randomUUID();
  await tryTimes(limit.max, whom);
  expect((await tryTimes(1, randomUUID())).passed).toBe(1);
  await expect(consume({ ...limit, name: "another test" }, whom)).resolves.toBeDefined();
});
