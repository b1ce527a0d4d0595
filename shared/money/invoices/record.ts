import * as z from "zod/mini";

import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";

/** The customer on invoices. */
export const Buyer = z.object({
  name: z.string(),
  address: z.optional(z.array(z.string())),
  country: z.optional(z.string()),
  vatNumber: z.optional(z.string()),
  taxNumber: z.optional(z.string()),
});
export type Buyer = z.infer<typeof Buyer>;

/** An invoice or a credit note. It is never changed. */
export const DocumentRecord = z.object({
  entity: z.literal("invoice"),
  kind: z.enum(["invoice", "credit_note"]),
  number: z.string(),
  organizationId: z.string(),
  paymentId: z.string(),
  /** The bank's reference of a transfer. */
  reference: z.optional(z.string()),
  /** The refund of a credit note. */
  refundId: z.optional(z.string()),
  /** The number of the invoice that a credit note corrects. */
  corrects: z.optional(z.string()),
  issuedAt: z.string(),
  /** The zone of its dates. Documents of older releases have none, and dates in UTC. */
  timeZone: z.optional(z.string()),
  paidAt: z.optional(z.string()),
  method: z.optional(z.enum(["card", "bank_transfer"])),
  seller: z.object({
    name: z.string(),
    address: z.array(z.string()),
    country: z.string(),
    vatNumber: z.optional(z.string()),
    taxNumber: z.optional(z.string()),
    email: z.optional(z.string()),
  }),
  /** The brand at the time of issue. */
  brand: z.optional(z.object({ name: z.string(), color: z.string() })),
  buyer: Buyer,
  lines: z.array(z.object({ description: z.string(), amountMicros: z.int() })),
  /** Net. */
  amountMicros: z.int(),
  taxMicros: z.int(),
  /** In percent. */
  taxRate: z.number(),
  /** Why there is no tax, for example a reverse charge. */
  taxNote: z.optional(z.string()),
  totalMicros: z.int(),
  currency: z.string(),
  /** The tax in the currency of the seller's country, and what one unit of `currency` has of it. */
  localTax: z.optional(z.object({ currency: z.string(), micros: z.int(), exchangeRate: z.string() })),
});
export type DocumentRecord = z.infer<typeof DocumentRecord>;

/** Returns the day of a moment in a time zone, such as `2026-11-29`. */
export function dayIn(timeZone: string | undefined, moment: string): string {
  // Swedish dates have the form of ISO 8601.
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  return new Intl.DateTimeFormat("sv", { ...parts, timeZone: timeZone ?? "UTC" }).format(new Date(moment));
}

/** The next number of a kind of document in a year. */
export const NumberRecord = z.object({ next: z.int().check(z.positive()) });

const prefixes = { invoice: "INV", credit_note: "CRN" } as const;

export function numberOf(kind: DocumentRecord["kind"], year: string, count: number): string {
  return `${prefixes[kind]}-${year}-${String(count).padStart(6, "0")}`;
}

/**
 * Sets the next number above one that was issued, unless it is.
 * @returns the next number
 */
export async function advanceNumbers(issued: string): Promise<string> {
  const [prefix, year = "", digits] = issued.split("-");
  const kind = prefix === prefixes.invoice ? "invoice" : "credit_note";
  const set = { entity: "invoiceNumber", next: Number(digits) + 1 };
  const requires = { ifPresent: { atMost: { next: Number(digits) } } };
  const updated = await updateItem(NumberRecord, updateOf(keys.invoiceNumber(kind, year), { set }, requires));
  const { next } = updated.applied ? updated.item : NumberRecord.parse(updated.found);
  return numberOf(kind, year, next);
}

/** Returns a document of an organization by its number. */
export async function findDocument(
  organizationId: string,
  number: string,
): Promise<DocumentRecord | undefined> {
  return findItem(DocumentRecord, keys.invoice(organizationId, number), { consistent: true });
}

/** Yields all invoices and credit notes of an organization, by their numbers. */
export function documentsOf(organizationId: string): AsyncGenerator<DocumentRecord> {
  return itemsIn(DocumentRecord, { pk: keys.invoice(organizationId, "").pk });
}
