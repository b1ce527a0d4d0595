import fc from "fast-check";
import { expect, it } from "vitest";

import { grossOf, netOf, taxMicrosOf } from "../../shared/money/payments/tax.ts";
import { isNightly } from "../support/second-opinions.ts";

it("a tax is exact for each rate with two decimals, and half a cent is rounded up", () => {
  const exactly = (cents: number, hundredths: number): number =>
    Number((BigInt(cents) * BigInt(hundredths) * 2n + 10_000n) / 20_000n);
  expect(taxMicrosOf(15_000_000, { rate: 18.9 })).toBe(2_840_000);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 0, max: 5_000 }), (cents, hundredths) => {
      expect(taxMicrosOf(cents * 10_000, { rate: hundredths / 100 })).toBe(
        exactly(cents, hundredths) * 10_000,
      );
    }),
    { numRuns: isNightly ? 5_000 : 500 },
  );
  // The halves, which random amounts seldom meet.
  for (let hundredths = 1; hundredths <= 5_000; hundredths += 1) {
    for (const cents of [50, 150, 500, 1_500, 2_500, 5_000, 7_500, 12_500, 100_050]) {
      expect(taxMicrosOf(cents * 10_000, { rate: hundredths / 100 })).toBe(
        exactly(cents, hundredths) * 10_000,
      );
    }
  }
});

it("refunds of any sequence add up to their payment, and none has no total or a negative tax", () => {
  const cents = 10_000;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 0, max: 27 }),
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 700 })), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      (amount, rate, parts, isLastGross) => {
        const amountMicros = amount * cents;
        const payment = { amountMicros, totalMicros: amountMicros + taxMicrosOf(amountMicros, { rate }) };
        const rest = { ...payment };
        // The last part is all that is left.
        for (const [isGross, part] of [...parts, [isLastGross, Infinity] as const]) {
          const isByTotal = isGross || rest.amountMicros === 0;
          const partMicros = Math.min(part * cents, isByTotal ? rest.totalMicros : rest.amountMicros);
          if (partMicros === 0) break;
          const netMicros = isByTotal ? netOf(partMicros, payment, rest) : partMicros;
          const totalMicros = isByTotal ? partMicros : grossOf(partMicros, payment, rest);
          expect(netMicros).toBeGreaterThanOrEqual(0);
          expect(totalMicros).toBeGreaterThan(0);
          expect(totalMicros).toBeGreaterThanOrEqual(netMicros);
          rest.totalMicros -= totalMicros;
          rest.amountMicros -= netMicros;
          expect(rest.totalMicros).toBeGreaterThanOrEqual(rest.amountMicros);
        }
        expect(rest).toEqual({ amountMicros: 0, totalMicros: 0 });
      },
    ),
    { numRuns: isNightly ? 2_000 : 250 },
  );
});
