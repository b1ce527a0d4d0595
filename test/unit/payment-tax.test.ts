import fc from "fast-check";
import { expect, it } from "vitest";

import { netOf } from "../../shared/payments/tax.ts";

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
