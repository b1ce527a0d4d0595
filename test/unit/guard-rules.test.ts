import { expect, it } from "vitest";

import { GuardFigures } from "../../shared/api/contract/verification-guard.ts";
import { dayMs, hourMs, secondMs } from "../../shared/platform/clock.ts";
import {
  isUnusual,
  judge,
  markOf,
  surplusOf,
  type Conversion,
} from "../../shared/verifications/guard/rules.ts";

const at = new Date("2030-06-01T12:05:00Z");
const figures = GuardFigures.parse({});

function slot(time: string, started: number, approved: number, undelivered = 0): Conversion {
  return { entity: "conversion", sk: `COUNTRY#NG#2030-06-01T${time}`, started, approved, undelivered };
}

it.each([
  ["few approvals", [slot("11:3", 40, 8)], true],
  ["a slot that has just ended is too young", [slot("11:5", 40, 8), slot("12:0", 40, 8)], true],
  ["as the present one is", [slot("12:0", 40, 8)], false],
  ["too few starts", [slot("11:3", 39, 0)], false],
  ["undelivered messages", [slot("11:3", 100, 20, 60)], false],
  ["what is usual for the organization", [slot("11:3", 40, 8), slot("09:0", 100, 25)], false],
  ["less than that", [slot("11:3", 40, 3), slot("09:0", 100, 25)], true],
] as const)("a country is unusual or not by its newest starts: %s", (_, slots, expected) => {
  expect(isUnusual(at, slots, figures)).toBe(expected);
});

it("a busy range with approvals is not blocked, however many of its starts are pending", () => {
  const to = "2348030000000";
  const marks = (count: number, from: number): Set<string> =>
    new Set(
      Array.from({ length: count }, (_, index) => {
        const other = { id: `ver_${index}`, organizationId: "org_1", to: `${Number(to) + from + index}` };
        return markOf({ ...other, startedAt: new Date(at.getTime() - index * 1_000) });
      }),
    );
  const verdict = (pending: number, approved: number): unknown => {
    const item = { entity: "recentStarts", sk: "RANGE#234803000", undelivered: new Set<string>() } as const;
    const range = { ...item, unapproved: marks(pending, 1), approved: marks(approved, 100) };
    return judge({ id: "ver_0", organizationId: "org_1", to, startedAt: at }, [range], figures)?.rule;
  };
  expect([verdict(10, 5), verdict(20, 10), verdict(9, 0)]).toEqual([undefined, undefined, "country"]);
  expect([verdict(10, 4), verdict(10, 0)]).toEqual(["range", "range"]);
});

it("an item keeps marks of two days, and when it is full the newest ones of frequent numbers", () => {
  const startsOf = (name: string, count: number, agoMs: number): string[] =>
    Array.from({ length: count }, (_, index) => {
      const startedAt = new Date(at.getTime() - agoMs - index * secondMs);
      return markOf({ id: `${name} ${index}`, organizationId: "org_1", to: name, startedAt });
    });
  const leftOf = (...marks: string[]): string[] => {
    const others = { approved: new Set<string>(), undelivered: new Set<string>() };
    const item = { entity: "recentStarts", sk: "RANGE#1", unapproved: new Set(marks), ...others } as const;
    const surplus = surplusOf([item], "RANGE#1", at);
    return marks.filter((mark) => !surplus.has(mark));
  };
  const [old, frequent, rare] = [
    startsOf("1", 3, 2 * dayMs),
    startsOf("2", 4, hourMs),
    startsOf("3", 2, hourMs),
  ];
  expect(leftOf(...old, ...frequent, ...rare)).toEqual([...frequent, ...rare]);
  const single = Array.from({ length: 50 }, (_, index) => startsOf(`4${index}`, 1, index * secondMs)).flat();
  expect(leftOf(...single, ...frequent, ...old)).toEqual([...single.slice(0, 21), ...frequent]);
  const many = startsOf("5", 30_000, secondMs);
  expect(leftOf(...many)).toEqual(many.slice(0, 25));
});
