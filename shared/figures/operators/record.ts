import * as z from "zod/mini";

import { dayMs, dayOf, epochSeconds, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { firstItems } from "../../platform/table/lists.ts";

/*
 * The notices to the operators, in one partition for each day. The email of each morning and `organizations unusual` show
 * them. They have no effect of their own, and expire.
 */

/** Unusual spending of a customer on the day, a recharge that failed, a payment that differs from the provider's, or a carrier. */
export const OperatorNoticeRecord = z.object({
  entity: z.literal("operatorNotice"),
  what: z.string(),
  day: z.string(),
  at: z.string(),
  organizationId: z.optional(z.string()),
  paymentId: z.optional(z.string()),
  /** The carrier of a finding, its share of good events, and the usual one. */
  carrier: z.optional(z.string()),
  share: z.optional(z.number()),
  usualShare: z.optional(z.number()),
  /** The country of a finding, or that unusual spending is for, with its figures. */
  country: z.optional(z.string()),
  messages: z.optional(z.int()),
  amountMicros: z.optional(z.int()),
  usualMicros: z.optional(z.int()),
  expiresAt: z.int(),
});
export type OperatorNoticeRecord = z.infer<typeof OperatorNoticeRecord>;

export const unusualSpend = "unusual spend";

/** A completed comparison with the payment provider. */
export const paymentsCompared = "payments compared";

/** Returns a notice of the present moment, for a day. */
export function noticeOf(
  fields: Omit<OperatorNoticeRecord, "at" | "day" | "entity" | "expiresAt">,
  day = dayOf(now().toISOString()),
): { readonly key: ReturnType<typeof keys.operatorNotice>; readonly record: OperatorNoticeRecord } {
  const { what, organizationId, carrier, country, paymentId = country } = fields;
  const expiresAt = epochSeconds(new Date(Date.parse(day) + 40 * dayMs));
  const record = { entity: "operatorNotice", ...fields, day, at: now().toISOString(), expiresAt } as const;
  return { key: keys.operatorNotice(day, `${what}#${carrier ?? organizationId}#${paymentId}`), record };
}

/** Reads the notices of the present day and of some days before it, the newest day first. */
export async function readNotices(daysBefore: number): Promise<OperatorNoticeRecord[]> {
  const days = Array.from({ length: daysBefore + 1 }, (_, back) => new Date(now().getTime() - back * dayMs));
  const read = days.map(async (day) => {
    const { pk } = keys.operatorNotice(dayOf(day.toISOString()), "");
    return firstItems(OperatorNoticeRecord, { pk, skipsUnreadable: true }, 10_000);
  });
  return (await Promise.all(read)).flat();
}
