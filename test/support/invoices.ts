import type { DocumentRecord } from "../../shared/money/invoices/record.ts";

/** Returns an invoice of 100.00 EUR with 19% of tax. */
export function invoice(changes: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    entity: "invoice",
    kind: "invoice",
    number: "INV-2026-000042",
    organizationId: "org_01JQ8Z3K5V7W9X2Y4A6B8C0D1E",
    paymentId: "pay_01JQ8Z3K5V7W9X2Y4A6B8C0D1E",
    issuedAt: "2026-03-02T23:30:00.000Z",
    paidAt: "2026-03-01T09:30:00.000Z",
    method: "card",
    seller: {
      name: "Nordlicht Messaging GmbH",
      address: ["Hafenstraße 12", "20457 Hamburg"],
      country: "DE",
      vatNumber: "DE123456789",
      email: "billing@nordlicht.example",
    },
    buyer: { name: "Café Zürich KG", address: ["Lindenallee 5", "50668 Köln"], country: "DE" },
    lines: [{ description: "Prepaid balance", amountMicros: 100_000_000 }],
    amountMicros: 100_000_000,
    taxMicros: 19_000_000,
    taxRate: 19,
    totalMicros: 119_000_000,
    currency: "EUR",
    ...changes,
  };
}

/** The changes of an invoice of 100.00 EUR to a buyer who owes the tax. */
export const reverseCharge = {
  taxRate: 0,
  taxMicros: 0,
  totalMicros: 100_000_000,
  taxNote: "Reverse charge: you owe the tax.",
} as const satisfies Partial<DocumentRecord>;
