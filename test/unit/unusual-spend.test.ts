import { expect, it } from "vitest";

import { comparedDays, isUnusual, usualOf } from "../../shared/figures/operators/judge.ts";
import { oneOf, randomFrom, type Random } from "../chaos/random.ts";

const priceMicros = 46_000;

/** The usage of a day. */
function usage(messages: number, amountMicros = messages * priceMicros) {
  return { messages, amountMicros, refundedMicros: 0 };
}

/** The messages of ordinary days: with weekends, noise, and a campaign of each week. */
function ordinaryDays(random: Random, count: number): number[] {
  const base = oneOf(random, [3, 40, 200, 5_000]);
  const atWeekends = oneOf(random, [0.2, 0.6, 1]);
  const campaign = oneOf(random, [0, 0, 10]);
  return Array.from({ length: count }, (_, day) => {
    const noise = 0.6 + 0.8 * random();
    const weekly = day % 7 === 2 ? 1 + campaign : 1;
    return Math.round(base * noise * weekly * (day % 7 > 4 ? atWeekends : 1));
  });
}

const seeds = Array.from({ length: 300 }, (_, seed) => seed);

/** Judges a day after the days before it. */
function judge(before: readonly number[], today: number): boolean {
  const amounts = before.filter((each) => each > 0).map((each) => each * priceMicros);
  return isUnusual(usage(today), usualOf(amounts));
}

it("ordinary weeks have no unusual day, once there is a week to compare with", () => {
  const found = seeds.filter((seed) => {
    const days = ordinaryDays(randomFrom(seed), 90);
    return days.some(
      (today, index) => index >= 28 && judge(days.slice(Math.max(0, index - comparedDays), index), today),
    );
  });
  expect(found).toEqual([]);
});

it("ten times the best day is unusual in every week, also a week after a day with the same fraud", () => {
  for (const seed of seeds) {
    const days = ordinaryDays(randomFrom(seed), comparedDays);
    const pumped = Math.max(50, 10 * Math.max(...days));
    expect(judge(days, pumped)).toBe(true);
    expect(judge([...days.slice(1, -7), pumped, ...days.slice(-7)], pumped)).toBe(true);
  }
});

it("sixty codes to a country that the customer never used are unusual, and a few messages never are", () => {
  expect(isUnusual(usage(60, 60 * 14_500), usualOf([]))).toBe(true);
  expect(isUnusual(usage(49), 0)).toBe(false);
  expect(isUnusual(usage(60, 249_999), 0)).toBe(false);
  // Messages that failed cost as well.
  expect(isUnusual({ ...usage(60, 249_999), refundedMicros: 1 }, 0)).toBe(true);
});

it("the amount has to be above three times that of the third best day, or of the least of fewer days", () => {
  expect(usualOf([100, 300, 200, 400])).toBe(200);
  expect(usualOf([300, 100])).toBe(100);
  expect([isUnusual(usage(60, 600_000), 200_000), isUnusual(usage(60, 600_001), 200_000)]).toEqual([
    false,
    true,
  ]);
});
