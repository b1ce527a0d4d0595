import { expect, it } from "vitest";

import { en16931Of } from "../../shared/money/invoices/en16931.ts";
import { invoice, reverseCharge } from "../support/invoices.ts";

const { vatNumber: _, ...seller } = invoice().seller;

it.each([
  ["the seller has no VAT or tax number", { seller }],
  ["the buyer, who owes the tax, has no VAT number", reverseCharge],
])("a document of EN 16931 is rejected when %s", (reason, changes) => {
  expect(() => en16931Of(invoice(changes))).toThrow(`cannot be a file of EN 16931: ${reason}.`);
});

it("a document of EN 16931 names no VAT number where the tax does not apply, and no control", () => {
  const buyer = { name: "A\u0000\uFFFF<B>", country: "US", vatNumber: "US123" };
  const xml = en16931Of(invoice({ buyer, taxRate: 0, taxMicros: 0, totalMicros: 100_000_000 }));
  expect(xml).not.toContain("SpecifiedTaxRegistration");
  expect(xml).toContain(`<ram:ID>${invoice().seller.vatNumber}</ram:ID>`);
  expect(xml).toContain("<ram:Name>A &lt;B&gt;</ram:Name>");
});
