import fc from "fast-check";
import { expect, it } from "vitest";

import {
  addNumbers,
  compareNumbers,
  negateNumber,
  normalizeNumber,
  numberSize,
  sortableNumber,
} from "../../../infra/local/store/decimal.ts";

it.each([
  ["1E+2", "100"],
  ["0.10", "0.1"],
  ["-0", "0"],
  ["00012", "12"],
  ["+7", "7"],
  [".5", "0.5"],
  ["5.", "5"],
  ["1.5e1", "15"],
  ["123456789012345678901234567890.12345678", "123456789012345678901234567890.12345678"],
  ["1E-130", `0.${"0".repeat(129)}1`],
  ["9.9E125", `99${"0".repeat(124)}`],
])("%s is stored as %s", (written, kept) => {
  expect(normalizeNumber(written)).toBe(kept);
});

it.each([
  ["", "cannot be converted to a numeric value"],
  ["abc", "cannot be converted to a numeric value: abc"],
  ["0x10", "cannot be converted"],
  [" 1", "cannot be converted"],
  ["1".repeat(39), "more than 38 significant digits"],
  ["1E126", "Number overflow"],
  ["-1E99999999", "Number overflow"],
  ["1E-131", "Number underflow"],
])("'%s' is rejected: %s", (written, words) => {
  expect(() => normalizeNumber(written)).toThrow(words);
});

it.each([
  ["0.1", "0.2", "0.3"],
  ["9007199254740993", "2", "9007199254740995"],
  ["1E37", "1", "10000000000000000000000000000000000001"],
  ["5", "-5", "0"],
  ["-0.5", "1.5", "1"],
])("%s and %s are %s", (one, other, total) => {
  expect(addNumbers(normalizeNumber(one), normalizeNumber(other))).toBe(total);
});

it.each([
  ["1E38", "1"],
  ["99999999999999999999999999999999999999", "0.1"],
])("%s and %s have too many digits together", (one, other) => {
  expect(() => addNumbers(normalizeNumber(one), other)).toThrow("38");
});

/** Numbers of up to 20 digits, which BigInt can check. */
const scaled = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
const places = 7;

/** The number that is an integer over ten to the power of `places`. */
function scaledDown(integer: bigint): string {
  return normalizeNumber(`${integer}E-${places}`);
}

it("sums are exact, and numbers and their sortable texts are in one order", () => {
  fc.assert(
    fc.property(scaled, scaled, (one, other) => {
      expect(addNumbers(scaledDown(one), scaledDown(other))).toBe(scaledDown(one + other));
      expect(addNumbers(scaledDown(one), negateNumber(scaledDown(other)))).toBe(scaledDown(one - other));
      const order = one < other ? -1 : one > other ? 1 : 0;
      expect(Math.sign(compareNumbers(scaledDown(one), scaledDown(other)))).toBe(order);
      const [left, right] = [sortableNumber(scaledDown(one)), sortableNumber(scaledDown(other))];
      expect(left < right ? -1 : left > right ? 1 : 0).toBe(order);
    }),
  );
});

it.each([
  ["0", 1],
  ["1", 2],
  ["100", 2],
  ["123", 3],
  ["-123", 4],
  ["0.05", 2],
])("%s takes %d bytes", (number, size) => {
  expect(numberSize(number)).toBe(size);
});
