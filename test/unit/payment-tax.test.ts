import fc from "fast-check";
import { expect, it } from "vitest";

import { netOf, taxMicrosOf } from "../../shared/money/payments/tax.ts";

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
    { numRuns: 5_000 },
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

it("the parts of a payment that go back add up to its amount, however they are rounded", () => {
  const cents = 10_000;
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 5_000 }),
      fc.integer({ min: 0, max: 27 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 }),
      (amount, rate, parts) => {
        const payment = {
          amountMicros: amount * cents,
          totalMicros: (amount + Math.round((amount * rate) / 100)) * cents,
        };
        const rest = { ...payment };
        // The last part takes all that is left.
        for (const part of [...parts, Infinity]) {
          const totalMicros = Math.min(part * cents, rest.totalMicros);
          if (totalMicros === 0) break;
          const netMicros = netOf(totalMicros, payment, rest);
          expect(netMicros).toBeGreaterThanOrEqual(0);
          rest.totalMicros -= totalMicros;
          rest.amountMicros -= netMicros;
        }
        expect(rest).toEqual({ amountMicros: 0, totalMicros: 0 });
      },
    ),
  );
});
