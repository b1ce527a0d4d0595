import { expect, it } from "vitest";

import { retryAt } from "../../shared/webhooks/retry-schedule.ts";

const at = new Date("2031-03-01T12:00:00Z");

function waitSeconds(attempts: number, random: number, retryAfter?: string): number | undefined {
  const next = retryAt({ attempts, at, retryAfter }, random);
  return next === undefined ? undefined : (next.getTime() - at.getTime()) / 1_000;
}

const schedule = [5, 60, 300, 1_800, 7_200, 21_600, 43_200];

it("eight attempts are spread over a day: now, then after 5 s, 1 m, 5 m, 30 m, 2 h, 6 h and 12 h", () => {
  expect(schedule.map((_, index) => waitSeconds(index + 1, 0))).toEqual(schedule);
  expect(waitSeconds(8, 0)).toBeUndefined();
});

it("every wait is up to a fifth longer, so that simultaneous failures are not retried simultaneously", () => {
  expect(schedule.map((_, index) => waitSeconds(index + 1, 1))).toEqual(schedule.map((wait) => wait * 1.2));
  expect(waitSeconds(2, Math.random())).toBeGreaterThanOrEqual(60);
});

it.each([
  ["seconds", "600", 600],
  ["an HTTP date", "Sat, 01 Mar 2031 12:10:00 GMT", 600],
  ["less than the schedule's wait", "1", 60],
  ["a moment that has passed", "Sat, 01 Mar 2031 11:00:00 GMT", 60],
  ["more than a day", "9999999999", 86_400],
  ["a date in years", "Sat, 01 Mar 2036 12:00:00 GMT", 86_400],
  ["nonsense", "soon", 60],
  ["a negative number", "-5", 60],
  ["nothing", "", 60],
])("a Retry-After of %s puts an attempt off, within bounds", (_name, retryAfter, seconds) => {
  expect(waitSeconds(2, 0, retryAfter)).toBe(seconds);
});

it("a Retry-After adds no attempt to the schedule", () => {
  expect(waitSeconds(8, 0, "600")).toBeUndefined();
});
