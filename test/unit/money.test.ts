import { expect, it } from "vitest";

import { amountOf, microsOf, microsOfText, moneyText } from "../../shared/wallet/money.ts";

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
