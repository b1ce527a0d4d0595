import { afterEach, expect, it, vi } from "vitest";

import { currencies, decimalsOf } from "../../shared/api/contract/currencies.ts";
import {
  amountOf,
  microsOf,
  microsOfMinorUnits,
  microsOfText,
  minorUnitsOf,
  moneyText,
} from "../../shared/money/wallet/money.ts";
import { environmentNames } from "../../shared/platform/config.ts";

afterEach(() => void vi.unstubAllEnvs());

it("amounts and micro-units turn into each other without loss", () => {
  for (const amount of [0, 0.000001, 0.0079, 0.1, 0.29, 1.15, 999_999.99, 1_000_000, 8_999_999_999.123]) {
    expect(amountOf(microsOf(amount))).toBe(amount);
  }
  expect(microsOf(0.1) + microsOf(0.2)).toBe(microsOf(0.3));
});

it("amounts are read and written digit by digit", () => {
  for (const text of ["0.000001", "0.100000", "9.992100", "250.000000", "9007199254.740991"]) {
    expect(moneyText(microsOfText(text) ?? 0)).toBe(`${text} USD`);
  }
  expect(microsOfText("12.5")).toBe(12_500_000);
  expect(moneyText(-7_900)).toBe("-0.007900 USD");
  expect(moneyText(8_999_999_999_999_999)).toBe("8999999999.999999 USD");
  for (const text of [
    "",
    "1.",
    ".5",
    "-1",
    "+1",
    "1e3",
    "1,5",
    "0.0000001",
    "٣",
    "9007199254.740992",
    "1 ",
  ]) {
    expect(microsOfText(text)).toBeUndefined();
  }
});

it.each([
  ["EUR", 10_000],
  ["JPY", 1_000_000],
])("a minor unit of %s is %d micro-units", (currency, microsOfOne) => {
  vi.stubEnv(environmentNames.currency, currency);
  for (const minorUnits of [0, 1, -1, 1_999, Math.floor(Number.MAX_SAFE_INTEGER / microsOfOne)]) {
    const micros = minorUnits * microsOfOne;
    expect(microsOfMinorUnits(minorUnits)).toBe(micros);
    expect(minorUnitsOf(micros)).toBe(minorUnits);
    expect(() => minorUnitsOf(micros - 1)).toThrow(`${moneyText(micros - 1)} has a part of a minor unit`);
  }
  expect(moneyText(1_500_000)).toBe(`1.500000 ${currency}`);
});

it("the decimals of each currency are those of ISO 4217, which Intl has", () => {
  const decimalsOfIntl = (currency: string): number | undefined =>
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
  expect(currencies().map((each) => [each, decimalsOf(each)])).toEqual(
    currencies().map((each) => [each, decimalsOfIntl(each)]),
  );
});
