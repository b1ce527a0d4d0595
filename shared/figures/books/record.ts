import * as z from "zod/mini";

import { Month } from "../../api/contract/primitives.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { OpenDay } from "./costs.ts";

/*
 * The books of a closed month: one item for each organization, the lines of its payments, and last the totals. All are
 * inserted once and never changed. A month is closed when it has its totals.
 */

/** Sums of messages. */
const MessageSums = z.object({
  /** Charged messages and their segments, without refunded ones. */
  messages: z.int(),
  segments: z.int(),
  /** Charges in the ledger, without refunds. */
  revenueMicros: z.int(),
  /** The carriers' costs of sent messages. */
  costMicros: z.int(),
  /** The sent messages whose cost is unknown and missing from `costMicros`. */
  messagesWithoutCost: z.int(),
  /** The messages with an unknown outcome, which a carrier may charge, and what it may charge. Absent from books of 0.4.0. */
  unknownMessages: z._default(z.int(), 0),
  unknownCostMicros: z._default(z.int(), 0),
});

/** The messages of an organization to one country. Refunds of an earlier month can make the numbers negative. */
export const CountryBooks = z.object({
  /** As an ISO 3166-1 code, or XK; `none` for numbers without a country, and for entries that do not name one. */
  country: z.string(),
  ...MessageSums.shape,
});
export type CountryBooks = z.infer<typeof CountryBooks>;

/** The sums that organizations and the totals have. */
const sums = {
  openingMicros: z.int(),
  closingMicros: z.int(),
  /** The movements of the ledger by type, and accepted differences as `unexplained`. */
  movements: z.record(z.string(), z.int()),
  ...MessageSums.shape,
  /** The fees of the payment provider. */
  feeMicros: z.int(),
};

/** The books of an organization. */
export const BooksRecord = z.object({
  entity: z.literal("books"),
  organizationId: z.string(),
  /** The organization's name when the month was closed. */
  name: z.optional(z.string()),
  ...sums,
  /** Why the operator accepted its differences. */
  unexplainedReason: z.optional(z.string()),
  countries: z.array(CountryBooks),
  /** The days with messages that were still to be sent. Their costs change the books of a later month. */
  openDays: z.array(OpenDay),
  /** Up to this seq, all entries of the ledger belong to this month or earlier ones. */
  closedSeq: z.int(),
  /** Up to this seq, all entries of this month or earlier ones are in the books. */
  readSeq: z.int(),
});
export type BooksRecord = z.infer<typeof BooksRecord>;

/** A movement of money by a payment, or a fee of the provider. */
const PaymentLine = z.object({
  at: z.string(),
  kind: z.enum(["payment", "payment_refund", "chargeback", "fee"]),
  paymentId: z.optional(z.string()),
  /** The reference in the ledger. */
  reference: z.optional(z.string()),
  /** The provider's id of the payment, refund or dispute. */
  providerId: z.optional(z.string()),
  /** As in the ledger; 0 for a fee. */
  amountMicros: z.int(),
  /** Absent for a movement that the operator made without a payment. */
  totalMicros: z.optional(z.int()),
  feeMicros: z.int(),
  /** The number of the invoice or credit note, if it was issued when the month was closed. */
  document: z.optional(z.string()),
});
export type PaymentLine = z.infer<typeof PaymentLine>;

/** Some of an organization's lines: an item of the table holds 400 KB. */
export const PaymentLinesRecord = z.object({
  entity: z.literal("bookLines"),
  organizationId: z.string(),
  lines: z.array(PaymentLine),
});

/** The totals of a month. */
export const BooksTotal = z.object({
  entity: z.literal("booksTotal"),
  month: Month,
  currency: z.string(),
  organizations: z.int(),
  ...sums,
  /** The sum of the positive balances: what customers have prepaid. */
  liabilityMicros: z.int(),
  /** The sum of the negative balances: what customers owe after chargebacks. */
  owedMicros: z.int(),
  /** The days of organizations whose costs were not final. */
  openDays: z.int(),
  closedAt: z.string(),
  closedBy: z.string(),
});
export type BooksTotal = z.infer<typeof BooksTotal>;

/** Whether an organization had a movement, a fee, a cost or a balance in a month. The others are not counted as customers. */
export function hasContent({
  openingMicros,
  closingMicros,
  feeMicros,
  movements,
  countries,
}: BooksRecord): boolean {
  const isUnused = openingMicros === 0 && closingMicros === 0 && feeMicros === 0 && countries.length === 0;
  return !isUnused || Object.keys(movements).length > 0;
}

/** Returns the totals of a month; undefined if it is not closed. */
export async function findBooksTotal(month: string): Promise<BooksTotal | undefined> {
  return findItem(BooksTotal, keys.booksTotal(month), { consistent: true });
}

/** Returns the books of an organization; undefined if they are not closed, or it had never had any movement. */
export async function findBooks(month: string, organizationId: string): Promise<BooksRecord | undefined> {
  return findItem(BooksRecord, keys.books(month, organizationId), { consistent: true });
}

const BooksItem = z.discriminatedUnion("entity", [BooksRecord, PaymentLinesRecord]);

/** Yields the books of all organizations of a month, each followed by its lines. */
export function readBooks(month: string): AsyncGenerator<z.infer<typeof BooksItem>> {
  return itemsIn(BooksItem, { pk: keys.books(month, "").pk, from: "org_", consistent: true }, 50);
}
